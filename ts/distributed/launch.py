"""PyTorch's older name of `ts.distributed.run`, for `python -m torch.distributed.launch`.

The started programs receive `--local-rank=N` as their first argument. The option `--use-env` disables this.
"""

from __future__ import annotations

from collections.abc import Sequence

from ts.distributed import run


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line of `ts.distributed.run`."""
    parser = run.get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="do not pass --local-rank")
    options = parser.parse_args(args)
    if not options.use_env:
        options.training_script_args = ["--local-rank={local_rank}", *options.training_script_args]
    run.run_or_exit(options)


if __name__ == "__main__":
    main()
