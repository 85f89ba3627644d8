/*
 * Large inputs: attributes, tables of the module header, comments and constants.
 */
#include "scale.h"

#include <stdio.h>

/* ---- attributes ---- */

void make_dimensions(long n)
{
    printf("HloModule m\n\nENTRY e {\n  x = f32[");
    listed(n, "1", ",");
    printf("]{");
    for (long i = n; i-- > 0;)
        printf("%ld%s", i, i ? "," : "");
    printf("} parameter(0)\n  y = f32[");
    listed(n, "1", ",");
    printf("] transpose(x), dimensions={");
    listed(n, "#", ",");
    puts("}");
    end();
}

void make_replica_groups(long n)
{
    printf("HloModule m, replica_count=%ld\nadd {\n  a = f32[] parameter(0)\n  b = f32[] "
           "parameter(1)\n"
           "  ROOT r = f32[] add(a, b)\n}\nENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[4] "
           "all-reduce(x), replica_groups={",
           n);
    listed(n, "{#}", ",");
    puts("}, to_apply=add");
    end();
}

void make_pairs(long n)
{
    printf("HloModule m, replica_count=%ld\nENTRY e {\n  x = f32[4] parameter(0)\n"
           "  y = f32[4] collective-permute(x), source_target_pairs={",
           n);
    for (long i = 0; i < n; i++)
        printf("%s{%ld,%ld}", i ? "," : "", i, (i + 1) % n);
    puts("}");
    end();
}

void make_sharding(long n)
{
    printf("HloModule m\nENTRY e {\n  x = f32[%ld] parameter(0), sharding={devices=[%ld]", n, n);
    listed(n, "#", ",");
    puts("}\n  y = f32[] constant(0)");
    end();
}

void make_sharding_of_tuple(long n)
{
    begin_scalar();
    printf("  t = (");
    listed(n, "f32[]", ", ");
    printf(") tuple(");
    listed(n, "x", ", ");
    printf("), sharding={");
    listed(n, "{replicated}", ", ");
    puts("}");
    end();
}

void make_frontend(long n)
{
    begin();
    printf("  y = f32[4] add(x, x), frontend_attributes={");
    listed(n, "a#=\"1\"", ",");
    puts("}");
    end();
}

void make_backend_config(long n)
{
    begin();
    printf("  y = f32[4] custom-call(x), custom_call_target=\"Sharding\", backend_config=\"{");
    listed(n, "a#=1", ",");
    puts("}\"");
    end();
}

void make_metadata(long n)
{
    begin();
    printf("  y = f32[4] add(x, x), metadata={op_name=\"");
    times(n, "jit(f)/");
    puts("\"}");
    for (long i = 0; i < n; i++)
        printf("  y%ld = f32[4] add(x, x), metadata={op_name=\"jit(f)/add%ld\" "
               "source_file=\"f%ld.py\" source_line=7}\n",
               i, i, i);
    end();
}

void make_frames(
    long n) /* tables of files, functions and frames, each frame within the previous one */
{
    puts("HloModule m\n\nFileNames");
    listed(n, "# \"f\"", "\n");
    puts("\n\nFunctionNames");
    listed(n, "# \"g\"", "\n");
    puts("\n\nFileLocations");
    for (long i = 1; i <= n; i++)
        printf(
            "%ld {file_name_id=%ld function_name_id=%ld line=1 end_line=1 column=1 end_column=2}\n",
            i, i, i);
    puts("\nStackFrames");
    for (long i = 1; i <= n; i++)
        printf("%ld {file_location_id=%ld parent_frame_id=%ld}\n", i, i, i);
    puts("\nENTRY e {\n  x = f32[4] parameter(0)");
    for (long i = 1; i <= n; i++)
        printf("  y%ld = f32[4] add(x, x), metadata={stack_frame_id=%ld}\n", i, i);
    end();
}

void make_aliases(long n)
{
    printf("HloModule m, input_output_alias={ ");
    listed(n, "{#}: (#, {}, may-alias)", ", ");
    puts(" }\nENTRY e {");
    for (long i = 0; i < n; i++)
        printf("  p%ld = f32[] parameter(%ld)\n", i, i);
    tuple_of("ROOT t", n, "f32[]", "p#");
    end();
}

void make_unknown_attributes(long n)
{
    begin();
    printf("  y = f32[4] add(x, x)");
    for (long i = 0; i < n; i++)
        printf(", a%ld={1}", i);
    puts("");
    end();
}

void make_control(long n) /* one with N predecessors; N with one predecessor each */
{
    begin();
    puts("  v0 = f32[4] negate(x)");
    for (long i = 1; i < n; i++)
        printf("  v%ld = f32[4] negate(x), control-predecessors={v%ld}\n", i, i - 1);
    printf("  r = f32[4] negate(x), control-predecessors={");
    listed(n, "v#", ", ");
    puts("}");
    end();
}

void make_comments(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        puts("  // a comment\n  /* another */");
    end();
}

void make_log_prefixes(long n)
{
    const char *prefix = "I0101 00:00:00.000000   12345 service.cc:100] ";
    printf("%sHloModule m\n%sENTRY e {\n%s  x = f32[4] parameter(0)\n", prefix, prefix, prefix);
    for (long i = 0; i < n; i++)
        printf("%s  v%ld = f32[4] add(x, x)\n", prefix, i);
    printf("%s}\n", prefix);
}

/* ---- constants ---- */

void make_constants(long n)
{
    begin();
    for (long i = 0; i < n; i++)
        printf("  k%ld = f32[4] constant({%ld, 1, 2, 3})\n", i, i);
    tuple_of("ROOT t", n, "f32[4]", "k#");
    end();
}

void make_constant_large(long n)
{
    printf("HloModule m\n\nENTRY e {\n  ROOT c = f32[%ld] constant({", n);
    listed(n, "#.5", ", ");
    puts("})");
    end();
}

void make_constant_rows(long n)
{
    printf("HloModule m\n\nENTRY e {\n  ROOT c = s32[%ld,1,2] constant({", n);
    listed(n, "{{#, 7}}", ", ");
    puts("})");
    end();
}

void make_constant_strings(long n) /* with many bytes */
{
    begin();
    printf("  y = f32[4] custom-call(x), custom_call_target=\"Sharding\", backend_config=\"");
    times(n, "\\n\\\"a");
    puts("\"");
    end();
}
