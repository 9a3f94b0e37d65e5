"""Messages of TensorBoard's hyperparameter plugin.

Input: the hyperparameters and metrics of a run. Output: the messages for the experiment, and for the start
and end of the run:

    experiment, start, end = hparams({"lr": 0.1, "net": "small"}, {"accuracy": 0.9})
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams import metadata
from tensorboard.plugins.hparams.api_pb2 import (
    DATA_TYPE_FLOAT64,
    DATA_TYPE_STRING,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

from ts._core.tensor.tensor import Tensor


def hparams(
    values: dict[str, Any], metrics: dict[str, Any], domains: dict[str, list[Any]] | None = None
) -> tuple[Summary, Summary, Summary]:
    """Return the experiment, session start and session end messages of a run."""
    if not isinstance(values, dict) or not isinstance(metrics, dict):
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    domains = domains or {}
    start, infos = SessionStartInfo(), []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, Tensor):
            value = value.item()
        if isinstance(value, int | float):  # True is written as 1, as in PyTorch
            start.hparams[name].number_value, kind = value, DATA_TYPE_FLOAT64
        elif isinstance(value, str):
            start.hparams[name].string_value, kind = value, DATA_TYPE_STRING
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        info = HParamInfo(name=name, type=kind)
        if name in domains:
            field = "number_value" if kind == DATA_TYPE_FLOAT64 else "string_value"
            for each in domains[name]:
                setattr(info.domain_discrete.values.add(), field, each)
        infos.append(info)
    metric_infos = [MetricInfo(name=MetricName(tag=name)) for name in metrics]
    experiment = Experiment(hparam_infos=infos, metric_infos=metric_infos)
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return (
        _summary(metadata.EXPERIMENT_TAG, HParamsPluginData(experiment=experiment, version=0)),
        _summary(metadata.SESSION_START_INFO_TAG, HParamsPluginData(session_start_info=start, version=0)),
        _summary(metadata.SESSION_END_INFO_TAG, HParamsPluginData(session_end_info=end, version=0)),
    )


def _summary(tag: str, data: HParamsPluginData) -> Summary:
    plugin = SummaryMetadata.PluginData(plugin_name=metadata.PLUGIN_NAME, content=data.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin))])
