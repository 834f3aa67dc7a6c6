"""Who packs: one module each, started alone in a process by `bench.contenders.serve`."""
