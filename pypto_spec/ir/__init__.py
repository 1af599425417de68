"""The IR: frozen, SSA, structured control flow, typed tiles.

One screen of grammar:

    program  = tensors scalars buffers control*
    control  = region | loop(control*) | branch(control*) | grid(control*)      # `program:` of a spec
    region   = stmt*                                                          # one kernel
    stmt     = op | for(carry, stmt*, yield) | if(stmt*, stmt*, yield) | set_flag | wait_flag | barrier
    op       = definition operands attrs -> results [scratch] [instructions]
    value    = name : tile | array | tensor | scalar  [@ buffer + offset]

Nothing here knows which operators exist: `opdef.py` says what a definition consists of, `pypto_spec.ops` defines them.
"""
