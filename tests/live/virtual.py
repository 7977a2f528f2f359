"""An event loop in virtual time: waiting takes no time, so that hours pass in seconds."""

import asyncio
import selectors


class VirtualSelector(selectors.SelectSelector):
    """Advances a clock instead of waiting."""

    now = 0.0

    def select(self, timeout=None):
        found = super().select(0)
        if not found:
            assert timeout is not None, "nothing will ever happen"
            self.now += max(timeout, 0.0)
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock is that of its selector."""

    def __init__(self):
        self.selector = VirtualSelector()
        super().__init__(self.selector)

    def time(self):
        return self.selector.now


def run(story):
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(story)
