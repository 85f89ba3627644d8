"""Tests hlo lsp with the client of pygls (2.0 or later), which checks each answer against the protocol. Prints TAP.

HLO=build/hlo python3 test_pygls.py
"""

import asyncio
import os
import sys

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

URI = "file:///module.hlo"
TEXT = """HloModule m

adder {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[2,3] parameter(0)
  y = addd(x, x)
  z = f32[] constant(0)
  ROOT r = f32[2] reduce(y, z), dimensions={1}, to_apply=adder
}
"""
DOCUMENT = types.TextDocumentIdentifier(uri=URI)


def at(line, character):
    return {
        "text_document": DOCUMENT,
        "position": types.Position(line=line, character=character),
    }


def extent(line, first, last):
    return types.Range(
        start=types.Position(line=line, character=first),
        end=types.Position(line=line, character=last),
    )


class Report:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, good, got=None):
        self.count += 1
        self.failed += not good
        print("ok" if good else "not ok", self.count, "-", name)
        if not good:
            print("# got:", *str(got).splitlines(), sep="\n# ")


async def talk(report):
    client = BaseLanguageClient("test", "1")
    published = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _(params):
        published.put_nowait(params)

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def _(params):
        pass

    await client.start_io(os.environ["HLO"], "lsp")
    check = report.check
    answer = await client.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(), initialization_options={"fake": "ones"}
        )
    )
    check("initialize", answer.server_info.name == "hlo", answer)
    client.initialized(types.InitializedParams())

    item = types.TextDocumentItem(uri=URI, language_id="hlo", version=1, text=TEXT)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    found = (await published.get()).diagnostics
    check("an error", [d.message for d in found] == ["unknown opcode 'addd'"], found)

    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=DOCUMENT,
            range=extent(10, 6, 6),
            context=types.CodeActionContext(diagnostics=found),
        )
    )
    (edit,) = actions[0].edit.changes[URI]
    check("its fix", (edit.range, edit.new_text) == (extent(10, 6, 10), "add"), actions)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2),
            content_changes=[
                types.TextDocumentContentChangePartial(range=edit.range, text=edit.new_text)
            ],
        )
    )
    client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=DOCUMENT))
    found = await published.get()
    check("no error is left", found.version == 2 and not found.diagnostics, found)

    hover = await client.text_document_hover_async(types.HoverParams(**at(12, 26)))
    check("hover", "value: `f32[2,3] all elements 2`" in hover.contents.value, hover)
    place = await client.text_document_definition_async(types.DefinitionParams(**at(12, 26)))
    check("definition", place.range == extent(10, 2, 3), place)
    context = types.ReferenceContext(include_declaration=True)
    places = await client.text_document_references_async(
        types.ReferenceParams(**at(12, 26), context=context)
    )
    check("references", len(places) == 2, places)
    marks = await client.text_document_document_highlight_async(
        types.DocumentHighlightParams(**at(12, 26))
    )
    check("highlights", len(marks) == 2, marks)
    completion = await client.text_document_completion_async(types.CompletionParams(**at(12, 25)))
    check("completion", [i.label for i in completion.items][:2] == ["x", "y"], completion)
    prepared = await client.text_document_prepare_rename_async(
        types.PrepareRenameParams(**at(10, 2))
    )
    check("prepared rename", prepared.placeholder == "y", prepared)
    rename = await client.text_document_rename_async(
        types.RenameParams(**at(10, 2), new_name="twice")
    )
    check("rename", [e.new_text for e in rename.changes[URI]] == ["twice"] * 2, rename)
    symbols = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(text_document=DOCUMENT)
    )
    check("symbols", [s.name for s in symbols] == ["adder", "main"], symbols)
    folds = await client.text_document_folding_range_async(
        types.FoldingRangeParams(text_document=DOCUMENT)
    )
    check("folding", [f.start_line for f in folds] == [2, 8], folds)
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(text_document=DOCUMENT, range=extent(10, 0, 9))
    )
    check("inlay hints", [h.label for h in hints] == ["f32[2,3]{1,0}"], hints)
    tokens = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(text_document=DOCUMENT)
    )
    check("semantic tokens", len(tokens.data) > 100 and len(tokens.data) % 5 == 0, tokens)
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(text_document=DOCUMENT)
    )
    check("code lenses", [lens.command.title for lens in lenses] == ["run", "why"], lenses)
    results = []
    for lens in lenses:
        command = types.ExecuteCommandParams(
            command=lens.command.command, arguments=lens.command.arguments
        )
        results.append(await client.workspace_execute_command_async(command))
    check("run", results[0] == "f32[2] {6, 6}", results)
    check("why", results[1].startswith("r[0] = 6  reduce f32[2]"), results)
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(
            text_document=DOCUMENT, options=types.FormattingOptions(tab_size=2, insert_spaces=True)
        )
    )
    check("format", "%y = f32[2,3]{1,0} add(%x, %x)" in edits[0].new_text, edits)

    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def main():
    report = Report()
    asyncio.run(talk(report))
    print(f"1..{report.count}")
    return report.failed > 0


sys.exit(main())
