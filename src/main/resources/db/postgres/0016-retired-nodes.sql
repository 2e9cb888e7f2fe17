-- A retired node keeps its row, for allocations name it, under an address nobody has: the real one, kept beside it,
-- is free for another machine. It is cordoned too, which keeps it out of the market of a jar that knows no retiring.
-- The generation grows when an operator says that the machine is another than it was: it is then asked anew what it
-- holds. What was last seen of a machine is written by whoever runs its market; an error means that it did not answer.
ALTER TABLE node ADD COLUMN retired_at BIGINT;
ALTER TABLE node ADD COLUMN retired_ip TEXT COLLATE "C";
ALTER TABLE node ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN last_seen BIGINT;
ALTER TABLE node ADD COLUMN last_error TEXT COLLATE "C";

-- What was swapped away within the last hour is read at each tick.
CREATE INDEX allocation_swapped ON allocation (reclaim_at) WHERE reclaim_reason = 'SWAP';
