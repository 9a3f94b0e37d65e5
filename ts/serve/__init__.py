"""`ts serve`: a page to try programs on, and a server of models.

    playground   page/, playground, program, names     text of anybody, compiled and run
    model        model, payload                        an archive over HTTP: POST /predict
    both         app, door, limits, metrics            requests, what they may take, what is counted
                 visitors, turns, batcher              who asks, whose turn it is, what goes together
                 pool, processes, nursery, frames      processes, forked where everything is loaded already

The process that talks HTTP reads no programs, no arrays and no archives: it hands bytes to its children,
which may be slow, run out of memory or end.  Nothing that comes in runs as Python anywhere.
"""
