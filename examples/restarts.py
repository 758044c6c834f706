"""Pods that restart too often, live: three restarts or more within ten minutes."""

import asyncio
import time
from collections import defaultdict

from listwatch import Client


def restarts(pod):  # all that is kept of a pod, and the one change that is told
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses", ()))


async def main():
    seen = defaultdict(list)  # when each pod restarted

    def updated(old, new):
        now = time.monotonic()
        recent = [then for then in seen[new.key] if now - then < 600]
        seen[new.key] = recent + [now] * (new.value - old.value)
        if len(seen[new.key]) >= 3:
            print(f"{new.key}: {len(seen[new.key])} restarts in 10 minutes, {new.value} in all")

    async with Client() as client:
        pods = client.informer("pods", projection=restarts)
        pods.add_handler(on_update=updated, on_delete=lambda pod: seen.pop(pod.key, None))
        await pods.run()


asyncio.run(main())
