"""The handshake rejects peers that do not know the secret, including those that replay earlier messages."""

import pytest

pytest.importorskip("distributed", reason="connections need dask.distributed: the extra rpc")

from tests.distributed import SECRET
from ts.distributed.transport import BlockingConnection, Security
from ts.distributed.transport.handshake import MAGIC, REJECTED, AuthenticationError, connector, listener


def talk(first, second):
    """Run the handshake of two ends and return their messages."""
    sent, received = [], b""
    sender, other = first, second
    (data, want), (_, other_want) = next(first), next(second)
    sent.append(data)
    while True:
        sender, other = other, sender
        assert len(data) == other_want
        try:
            data, other_want = sender.send(data)
        except StopIteration:
            return sent
        sent.append(data)
        want, other_want = other_want, want


def refuses(steps, data):
    """Return True if an end rejects the data; a listener first sends its refusal."""
    try:
        sent = steps.send(data)
        if sent == (REJECTED, 0):
            steps.send(b"")
    except AuthenticationError:
        return True
    return False


def test_both_ends_know():
    """A handshake has three messages, none of which contains the secret."""
    sent = talk(listener(SECRET), connector(SECRET))
    assert [len(each) for each in sent] == [len(MAGIC) + 32, 64, 32]
    assert SECRET not in b"".join(sent)


def test_handshakes_are_unique():
    """Each handshake uses new nonces."""
    first, second = (talk(listener(SECRET), connector(SECRET)) for _ in range(2))
    assert all(one != other for one, other in zip(first, second))


@pytest.mark.parametrize("theirs", [b"another secret, of 32 bytes......", b"", SECRET[:-1], SECRET + b"\0"])
def test_another_secret(theirs):
    """A wrong secret is detected and reported by the listener."""
    with pytest.raises(AuthenticationError, match="does not know the secret"):
        talk(listener(SECRET), connector(theirs))


def test_replayed_connector_is_rejected():
    """A replayed proof of a connector is rejected, because it belongs to another nonce."""
    sent = talk(listener(SECRET), connector(SECRET))
    again = listener(SECRET)
    next(again)
    assert refuses(again, sent[1])


def test_replayed_listener_is_rejected():
    """A replayed listener message and proof are rejected."""
    sent = talk(listener(SECRET), connector(SECRET))
    again = connector(SECRET)
    next(again)
    again.send(sent[0])
    assert refuses(again, sent[2])


def test_reflected_proofs_are_rejected():
    """An end rejects its own proof."""
    one = listener(SECRET)
    greeting, _ = next(one)
    assert refuses(one, greeting[len(MAGIC) :] + bytes(32))
    other = connector(SECRET)
    next(other)
    answer, _ = other.send(MAGIC + bytes(32))
    assert refuses(other, answer[32:])


def test_listener_rejects_another_listener():
    """Roles are part of a proof, so a listener's proof is rejected by another listener."""
    one, other = listener(SECRET), listener(SECRET)
    greeting, _ = next(one)
    next(other)
    assert refuses(other, greeting[len(MAGIC) :] + bytes(32))


def test_another_protocol():
    """The connector reports a peer with another protocol."""
    one = connector(SECRET)
    next(one)
    with pytest.raises(AuthenticationError, match="another protocol"):
        one.send(b"HTTP/1.1 400 Bad Request".ljust(len(MAGIC) + 32))


def test_connection_without_a_valid_secret():
    """Security requires a shared secret of at least 16 bytes or TLS."""
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Security(secret=b"short")
    with pytest.raises(ValueError, match="needs a shared secret"):
        BlockingConnection("ts://127.0.0.1:1")
    with pytest.raises(ValueError, match="needs certificates"):
        BlockingConnection("ts+tls://127.0.0.1:1", secret=SECRET)


def test_secret_is_not_printed():
    """The `repr` of Security does not contain the secret."""
    assert SECRET.hex() not in repr(Security(secret=SECRET)) and repr(SECRET) not in repr(
        Security(secret=SECRET)
    )
