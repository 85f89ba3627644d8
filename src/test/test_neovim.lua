-- Tests hlo lsp with Neovim (0.7 or later) as its client. Prints TAP.
--
--   HLO=build/hlo nvim --headless -u NONE -i NONE -n -c 'luafile src/test/test_neovim.lua'
local n, bad = 0, false

local function check(name, good, got)
  n = n + 1
  bad = bad or not good
  io.stdout:write((good and 'ok ' or 'not ok ') .. n .. ' - ' .. name .. '\n')
  if not good then
    io.stdout:write('# got: ' .. vim.inspect(got):gsub('\n', '\n# ') .. '\n')
  end
end

local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') end
local function messages()
  return vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0))
end
local function at(line, column) vim.api.nvim_win_set_cursor(0, { line, column }) end

-- The first result of a request at the cursor.
local function ask(method, extra)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, 'utf-16'), extra or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000) or {}
  for _, answer in pairs(answers) do
    return answer.result, answer.error or answer.err
  end
end

local path = vim.fn.tempname() .. '.hlo'
vim.fn.writefile({
  'HloModule m', -- line 1
  '',
  'adder {',
  '  a = f32[] parameter(0)',
  '  b = f32[] parameter(1)',
  '  ROOT s = f32[] add(a, b)',
  '}',
  '',
  'ENTRY main { // é🙂',
  '  x = f32[2,3] parameter(0)', -- line 10
  '  y = addd(x, x)',
  '  z = f32[] constant(0)',
  '  ROOT r = f32[2] reduce(y, z), dimensions={1}, to_apply=adder',
  '}',
}, path)
vim.cmd('edit ' .. path)
local id = vim.lsp.start_client({ name = 'hlo', cmd = { os.getenv('HLO'), 'lsp' },
  init_options = { fake = 'ones' } })
vim.lsp.buf_attach_client(0, id)

vim.wait(10000, function() return #vim.diagnostic.get(0) > 0 end)
check('open: an error', messages()[1] == "unknown opcode 'addd'", messages())

local line = vim.api.nvim_buf_get_lines(0, 10, 11, false)[1]
at(11, line:find('addd') - 1)
local actions = ask('textDocument/codeAction', {
  range = { start = { line = 10, character = 6 }, ['end'] = { line = 10, character = 6 } },
  context = { diagnostics = {} } })
check('the error has a replacement', actions and #actions == 1, actions)
if actions and actions[1] then
  vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
end
check('the replacement is applied', text():find('y = add(x, x)', 1, true), text())
vim.wait(10000, function() return #vim.diagnostic.get(0) == 0 end)
check('no error is left', #messages() == 0, messages())

vim.api.nvim_buf_set_text(0, 10, 9, 10, 9, { '/*🙂*/' }) -- edits are counted in UTF-16
vim.api.nvim_buf_set_text(0, 10, 9, 10, 9 + #'/*🙂*/', { '' })
at(13, 25)
local hover = ask('textDocument/hover')
check('hover: shape and value', hover and hover.contents.value:find('value: `f32[2,3] all elements 2`', 1, true)
  and hover.contents.value:find('shape: `f32[2,3]{1,0}`', 1, true), hover)
local definition = ask('textDocument/definition')
check('definition', definition and definition.range.start.line == 10, definition)
local references = ask('textDocument/references', { context = { includeDeclaration = true } })
check('references', references and #references == 2, references)
local completion = ask('textDocument/completion')
check('completion', completion and #completion.items == 3 and completion.items[2].detail == 'f32[2,3]{1,0}',
  completion)
local symbols = ask('textDocument/documentSymbol')
check('symbols', symbols and #symbols == 2 and #symbols[2].children == 4, symbols)

local hints = ask('textDocument/inlayHint', {
  range = { start = { line = 9, character = 0 }, ['end'] = { line = 13, character = 0 } } })
check('inlay hints: the shape that is not written', hints and #hints == 1 and hints[1].position.line == 10
  and hints[1].label == 'f32[2,3]{1,0}', hints)

local shown = {}
vim.lsp.handlers['window/showMessage'] = function(_, message) table.insert(shown, message.message) end
local lenses = ask('textDocument/codeLens') or {}
local function execute(lens) return lens and ask('workspace/executeCommand', lens.command) end
check('code lens: run', execute(lenses[1]) == 'f32[2] {6, 6}', lenses)
local why = execute(lenses[2])
check('code lens: why', why and why:find('r[0] = 6  reduce f32[2]', 1, true), why)
check('their results are shown', #shown == 2 and shown[1] == 'result:\nf32[2] {6, 6}', shown)

local _, clash = ask('textDocument/rename', { newName = 'x' })
check('rename: a name that is used', clash and clash.message:find('is used', 1, true), clash)
local rename = ask('textDocument/rename', { newName = 'twice' })
if rename then
  vim.lsp.util.apply_workspace_edit(rename, 'utf-16')
end
check('rename', text():find('twice = add(x, x)', 1, true) and text():find('reduce(twice, z)', 1, true), text())

local edits = ask('textDocument/formatting', { options = { tabSize = 2, insertSpaces = true } })
if edits then
  vim.lsp.util.apply_text_edits(edits, vim.api.nvim_get_current_buf(), 'utf-16')
end
check('format', text():find('  %twice = f32[2,3]{1,0} add(%x, %x)', 1, true) and text():find('// é🙂', 1, true),
  text())
local again = ask('textDocument/formatting', { options = { tabSize = 2, insertSpaces = true } })
check('formatted text is not changed', again and #again == 0, again)

vim.lsp.stop_client(id)
check('the server ends', vim.wait(10000, function() return vim.lsp.client_is_stopped(id) end))
io.stdout:write('1..' .. n .. '\n')
os.remove(path)
vim.cmd(bad and 'cquit!' or 'qall!')
