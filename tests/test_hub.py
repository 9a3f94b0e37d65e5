"""`ts.hub`: models and weights by name, from local folders."""

import pytest

import ts


@pytest.fixture
def hub_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(ts.hub, "_hub_dir", None)
    return tmp_path


def test_folders(hub_folder):
    assert ts.hub.get_dir() == str(hub_folder / "hub") and ts.hub._get_torch_home() == str(hub_folder)
    ts.hub.set_dir(hub_folder / "other")
    assert ts.hub.get_dir() == str(hub_folder / "other")
    assert ts.hub.HASH_REGEX.search("resnet18-f37072fd.pth")[1] == "f37072fd"


def test_weights_from_the_cache(hub_folder):
    url = "https://example.com/weights/model-abc.pth"
    with pytest.raises(NotImplementedError, match=r"save the file as .*model-abc.pth"):
        ts.hub.load_state_dict_from_url(url)
    folder = hub_folder / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    ts.save({"w": ts.ones(2)}, folder / "model-abc.pth")
    assert ts.hub.load_state_dict_from_url(url, progress=False)["w"].tolist() == [1, 1]
    assert ts.utils.model_zoo.load_url(url)["w"].tolist() == [1, 1]


def test_models_from_a_folder(tmp_path):
    (tmp_path / "parts.py").write_text("size = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\n"
        "def linear(out=2):\n    'A layer.'\n    import parts, ts\n    return ts.nn.Linear(parts.size, out)\n"
        "def _hidden():\n    pass\n"
    )
    assert ts.hub.list(tmp_path, source="local") == ["linear"]
    assert ts.hub.help(tmp_path, "linear", source="local") == "A layer."
    with pytest.raises(RuntimeError, match="Cannot find callable nothing in hubconf"):
        ts.hub.load(tmp_path, "nothing", source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package_anywhere']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package_anywhere"):
        ts.hub.load(tmp_path, "linear", source="local")


def test_nothing_is_downloaded():
    with pytest.raises(NotImplementedError, match="downloads are unsupported"):
        ts.hub.load("pytorch/vision", "resnet18")
    with pytest.raises(NotImplementedError, match=r"save the file as x.bin"):
        ts.hub.download_url_to_file("https://example.com/x", "x.bin")
    with pytest.raises(ValueError, match="Unknown source"):
        ts.hub.load(".", "model", source="elsewhere")
