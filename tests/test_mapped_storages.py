"""Storages mapped to files: `from_file` of `UntypedStorage` and of typed storages."""

import pytest

import ts


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(16)))
    return file


def test_private_mapping_leaves_the_file_unchanged(path):
    storage = ts.UntypedStorage.from_file(str(path), shared=False, nbytes=8)
    assert storage.tolist() == list(range(8))
    storage[0] = 99
    assert storage[0] == 99
    assert path.read_bytes()[0] == 0
    assert (storage.filename, storage.is_shared()) == (None, True)


def test_shared_mapping_writes_to_the_file(path):
    storage = ts.UntypedStorage.from_file(str(path), True, 8)
    storage[0] = 77
    assert path.read_bytes()[0] == 77
    assert (storage.filename, storage.is_shared(), len(storage)) == (str(path), True, 8)
    x = ts.tensor([], dtype=ts.float32).set_(storage)
    assert x.shape == (2,)
    x.zero_()
    assert path.read_bytes() == bytes(8) + bytes(range(8, 16))
    assert x.untyped_storage().filename == str(path)


def test_shared_mapping_creates_and_extends_files(tmp_path, path):
    ts.UntypedStorage.from_file(str(path), shared=True, nbytes=32)
    assert path.read_bytes() == bytes(range(16)) + bytes(16)
    ts.UntypedStorage.from_file(str(tmp_path / "new"), shared=True, nbytes=4)[1] = 5
    assert (tmp_path / "new").read_bytes() == bytes([0, 5, 0, 0])


def test_empty_mapping_opens_no_file(tmp_path):
    assert ts.UntypedStorage.from_file(str(tmp_path / "missing")).nbytes() == 0
    assert ts.UntypedStorage(4).filename is None


def test_storage_types_map_elements(path):
    storage = ts.IntStorage.from_file(str(path), shared=False, size=2)
    assert storage.tolist() == [0x03020100, 0x07060504]
    assert ts.FloatStorage.from_file(str(path), True, 3).nbytes() == 12
    with pytest.raises(RuntimeError, match="from_file can only be called on derived classes"):
        type(storage).from_file(str(path), True, 2)


def test_rejected_mappings(tmp_path, path):
    from_file = ts.UntypedStorage.from_file
    missing = str(tmp_path / "missing")
    with pytest.raises(
        RuntimeError, match=r"unable to open file <.*> in read-only mode: No such file .*\(2\)"
    ):
        from_file(missing, False, 4)
    with pytest.raises(RuntimeError, match=r"unable to open file <.*> in read-write mode: .*\(21\)"):
        from_file(str(tmp_path), True, 4)
    with pytest.raises(RuntimeError, match="size <16> is smaller than the required mapping size <32>"):
        from_file(str(path), False, 32)
    with pytest.raises(RuntimeError, match="unable to mmap -1 bytes from file"):
        from_file(str(path), True, -1)
    with pytest.raises(TypeError, match="argument 1 must be str, not int"):
        from_file(3)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        from_file(str(path), False, 2.5)
