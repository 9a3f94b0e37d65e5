"""`ts serve`: a page to try programs on, and a server of models.

    playground   page/, program, names         text of anybody, compiled and run in a process of its own
    model        model, payload, batcher       an archive over HTTP: POST /predict
    both         app, limits, metrics          requests, what they may take, what is counted
                 processes, nursery            processes that are forked where everything is loaded already

The process that talks HTTP reads no programs, no arrays and no archives: it hands bytes to its children,
which may be slow, run out of memory or end.  Nothing that comes in runs as Python anywhere.
"""
