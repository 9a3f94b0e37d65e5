import pytest, gc, time
from tests.distributed.test_calls_and_faults import *
from tests.distributed.test_calls_and_faults import begin
import ts.distributed.rpc.rref as rr
def test_dbg(world, pool):
    kept = rpc.remote("worker1", there.add, args=(1, 2))
    calls = begin(pool, "worker1", 1.0)
    rpc.rpc_sync("worker1", there.sleep, args=(0.5,))
    world.proxies["worker1"].cut()
    for call in calls.values():
        with pytest.raises(RuntimeError, match=r"name=worker1\) is gone, or its connection broke"):
            call.result(50)
    rpc.rpc_sync("worker2", there.sleep, args=(4,))
    assert kept.to_here() == 3
    del kept
    time.sleep(3); gc.collect()
    hs=[o for o in gc.get_objects() if isinstance(o, rr.RRef)]
    for h in hs:
        print(h, h.__dict__.get('_created'))
        for r in gc.get_referrers(h)[:6]: print('   ', type(r), str(r)[:150])
    print(rpc.rpc_sync("worker1", there.owned))
    from ts.distributed.rpc.api import current
    print(current().references._kept, )
    assert 0
