"""A Zenoh router of `bench.live_relay_swap` that relays, publishes or receives; needs `eclipse-zenoh`.

`python bench/zenoh_node.py ROLE CONFIG RATE`: a line for each event, its number and the monotonic time [s].
"""

import sys
import threading
import time

KEY = "swap/events"
BYTES = 200


def main(role: str, config: str, rate: float) -> None:
    """Run until the process is killed."""
    import zenoh  # type: ignore[import-not-found]

    session = zenoh.open(zenoh.Config.from_json5(config))
    if role == "subscriber":
        session.declare_subscriber(
            KEY, lambda sample: print(int(sample.payload.to_string()), time.monotonic(), flush=True)
        )
    if role != "publisher":
        threading.Event().wait()
    publisher = session.declare_publisher(
        KEY, congestion_control=zenoh.CongestionControl.BLOCK, reliability=zenoh.Reliability.RELIABLE
    )
    number, start = 0, time.monotonic()
    while True:
        print(number, time.monotonic(), flush=True)
        publisher.put(str(number).zfill(BYTES))
        number += 1
        time.sleep(max(start + number / rate - time.monotonic(), 0))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
