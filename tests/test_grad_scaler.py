"""GradScaler: scaled losses, unscaled gradients, skipped steps for non-finite gradients, and updates of the scale."""

import pickle

import pytest

import ts


@pytest.fixture
def parameter():
    return ts.nn.Parameter(ts.tensor([1.0, 2.0]))


@pytest.fixture
def optimizer(parameter):
    return ts.optim.SGD([parameter], lr=0.5)


def scaler(**options):
    return ts.amp.GradScaler("cpu", **{"init_scale": 4.0, "growth_interval": 2, **options})


def training_step(s, optimizer, parameter, factor=1.0):
    """Run one training step and return the result of the optimizer."""
    optimizer.zero_grad()
    s.scale((parameter * factor).sum()).backward()
    result = s.step(optimizer)
    s.update()
    return result


def test_steps_equal_unscaled_steps(parameter, optimizer):
    training_step(scaler(), optimizer, parameter)
    assert parameter.tolist() == [0.5, 1.5] and parameter.grad.tolist() == [1.0, 1.0]


def test_scale_follows(parameter, optimizer):
    """The scale grows after two finite steps and shrinks after a non-finite step, which is skipped."""
    s, scales = scaler(), []
    for factor in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        before = parameter.tolist()
        training_step(s, optimizer, parameter, factor)
        scales.append(s.get_scale())
        assert (parameter.tolist() == before) == (factor != 1.0)
    assert scales == [4.0, 8.0, 4.0, 4.0, 2.0, 2.0, 4.0]


def test_scale_stays_finite(parameter, optimizer):
    s = scaler(init_scale=3e38, growth_interval=1)
    ts._amp_update_scale_(scale := ts.tensor(3e38), steps := ts.tensor(0, dtype=ts.int32), ts.zeros(()), 2.0, 0.5, 1)
    assert s.get_scale() == 3e38 and scale.item() == ts.tensor(3e38).item() and steps.item() == 0


def test_unscaled_gradients_may_be_clipped(parameter, optimizer):
    s = scaler()
    s.scale((parameter * 8).sum()).backward()
    assert parameter.grad.tolist() == [32.0, 32.0]
    s.unscale_(optimizer)
    assert parameter.grad.tolist() == [8.0, 8.0]
    ts.nn.utils.clip_grad_value_([parameter], 1.0)
    s.step(optimizer)
    assert parameter.tolist() == [0.5, 1.5]


def test_several_optimizers(parameter):
    """A step is skipped only for the optimizer with non-finite gradients; the scale shrinks for all."""
    other = ts.nn.Parameter(ts.ones(1))
    first, second = ts.optim.SGD([parameter], lr=0.5), ts.optim.SGD([other], lr=0.5)
    s = scaler()
    s.scale(parameter.sum() + (other * float("inf")).sum()).backward()
    s.step(first)
    s.step(second)
    s.update()
    assert parameter.tolist() == [0.5, 1.5] and other.item() == 1.0 and s.get_scale() == 2.0


def test_outputs_in_containers():
    s, x = scaler(), ts.ones(1)
    scaled = s.scale([x, (x,)])
    assert scaled[0].item() == 4.0 and scaled[1][0].item() == 4.0 and type(scaled[1]) is tuple
    assert [y.item() for y in s.scale(y for y in [x, x])] == [4.0, 4.0]
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        s.scale(3)


def test_order_of_calls(parameter, optimizer):
    s = scaler()
    for action in ("step", "unscale_"):
        with pytest.raises(AssertionError, match=f"Attempted {action} but _scale is None"):
            getattr(s, action)(optimizer)
    with pytest.raises(AssertionError, match="Attempted update but _scale is None"):
        s.update()
    s.scale(parameter.sum()).backward()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        s.update()
    s.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer"):
        s.unscale_(optimizer)
    s.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        s.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update\(\)"):
        s.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        s.step(optimizer, closure=lambda: None)


def test_invalid_gradients(parameter, optimizer):
    s = scaler()
    s.scale(ts.ones(1))
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        s.step(optimizer)
    half = ts.nn.Parameter(ts.ones(2, dtype=ts.float16))
    half.grad = ts.ones(2, dtype=ts.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        s.unscale_(ts.optim.SGD([half], lr=0.5))


@pytest.mark.parametrize("wrong, message", [
    ({"growth_factor": 1.0}, r"The growth factor must be > 1\.0"),
    ({"backoff_factor": 1.0}, r"The backoff factor must be < 1\.0"),
])  # fmt: skip
def test_invalid_factors(wrong, message):
    with pytest.raises(AssertionError, match=message):
        scaler(**wrong)


def test_another_scale(parameter):
    s = scaler()
    s.scale(parameter.sum())
    s.update(16.0)
    assert s.get_scale() == 16.0
    s.update(ts.tensor(3.0))
    assert s.get_scale() == 3.0
    with pytest.raises(AssertionError, match="new_scale should be a float or a 1-element"):
        s.update(ts.ones(2))


def test_state(parameter, optimizer):
    """Scaler states load before the first loss and between later losses."""
    s = scaler()
    training_step(s, optimizer, parameter)
    state = s.state_dict()
    assert state == {
        "scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1,
    }  # fmt: skip
    for other in (ts.amp.GradScaler("cpu"), s, pickle.loads(pickle.dumps(s))):
        other.load_state_dict({**state, "scale": 8.0})
        training_step(other, optimizer, parameter)
        assert other.get_scale() == 16.0 and other._get_growth_tracker() == 0
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        s.load_state_dict({})
    s.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
        pickle.dumps(s)


def test_options_can_be_read_and_set():
    s = scaler()
    s.set_growth_factor(3.0)
    s.set_backoff_factor(0.25)
    s.set_growth_interval(7)
    assert (s.get_growth_factor(), s.get_backoff_factor(), s.get_growth_interval()) == (3.0, 0.25, 7)
    assert s.is_enabled()


def test_not_enabled(parameter, optimizer):
    s = scaler(enabled=False)
    loss = parameter.sum()
    assert s.scale(loss) is loss
    loss.backward()
    s.unscale_(optimizer)
    s.step(optimizer)
    s.update()
    assert parameter.tolist() == [0.5, 1.5]
    assert (s.state_dict(), s.get_scale(), s.is_enabled(), s._get_growth_tracker()) == ({}, 1.0, False, 0)
    assert not pickle.loads(pickle.dumps(s)).is_enabled()


def test_optimizers_that_know_of_the_scale(parameter):
    class SupportsScaling(ts.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            seen.append((self.grad_scale.item(), self.found_inf.item()))

    seen, optimizer, s = [], SupportsScaling([parameter], lr=0.5), scaler()
    for factor in (1.0, float("inf")):
        training_step(s, optimizer, parameter, factor)
    assert seen == [(4.0, 0.0), (4.0, 1.0)] and not hasattr(optimizer, "grad_scale")


def test_optimizers_that_take_the_scaler(parameter):
    class TakesScaler(ts.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None, grad_scaler=None):
            return grad_scaler

    s = scaler()
    s.scale(parameter.sum()).backward()
    with pytest.warns(FutureWarning, match="GradScaler is going to stop passing itself"):
        assert s.step(TakesScaler([parameter], lr=0.5)) is s


def test_without_a_device():
    with pytest.warns(UserWarning, match="torch.cuda.amp.GradScaler is enabled, but CUDA is not available"):
        assert not ts.amp.GradScaler().is_enabled()
    with pytest.warns(FutureWarning, match=r"`torch.cpu.amp.GradScaler\(args...\)` is deprecated"):
        assert ts.cpu.amp.GradScaler().get_scale() == 65536.0


# ---- the operators -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16, ts.float32, ts.float64])
def test_unscaling_every_dtype(dtype):
    grads, found_inf = [ts.ones(2, 2, dtype=dtype), ts.full((3,), 4.0, dtype=dtype)], ts.zeros(())
    ts._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, ts.tensor(0.5))
    assert found_inf.item() == 0.0 and grads[0].tolist() == [[0.5, 0.5]] * 2 and grads[1].tolist() == [2.0] * 3
    grads[1][0] = float("inf")
    ts._amp_foreach_non_finite_check_and_unscale_(grads, found_inf, ts.tensor(0.5))
    assert found_inf.item() == 1.0


def test_invalid_operands_of_amp_operators():
    one, two, steps = ts.zeros(1), ts.zeros(2), ts.zeros(1, dtype=ts.int32)
    unscale, update = ts._amp_foreach_non_finite_check_and_unscale_, ts._amp_update_scale_
    for call, message in [
        (lambda: unscale([one], two, one), r"found_inf must be a 1-element tensor\."),
        (lambda: unscale([one], one.double(), one), r"found_inf must be a float tensor\."),
        (lambda: unscale([one], one, two), r"inv_scale must be a 1-element tensor\."),
        (lambda: update(two, steps, one, 2.0, 0.5, 1), r"current_scale must be a 1-element tensor\."),
        (lambda: update(one, steps.long(), one, 2.0, 0.5, 1), r"growth_tracker must be an int tensor\."),
    ]:
        with pytest.raises(RuntimeError, match=message):
            call()
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        unscale([steps], one, one)
