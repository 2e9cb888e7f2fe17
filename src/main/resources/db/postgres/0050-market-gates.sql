-- serves-from: 42
-- Ceilings that the market's ticks read and prices that they set. Bills use these and not later declarations.

-- When a declared ceiling is in force at the latest; null in rows of an earlier release, where it was at once.
ALTER TABLE activity ADD COLUMN effective_at BIGINT;
ALTER TABLE cluster ADD COLUMN effective_at BIGINT;

-- The ceiling that the last tick read, when it was declared, and when the tick read it.
ALTER TABLE cluster ADD COLUMN gate_cents BIGINT;
ALTER TABLE cluster ADD COLUMN gate_priced_at BIGINT;
ALTER TABLE cluster ADD COLUMN gate_at BIGINT;
-- Seats won without a node yet, and when the cluster last gave up a seat or a new node.
ALTER TABLE cluster ADD COLUMN awaited_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cluster ADD COLUMN gave_up_at BIGINT;

-- The ceiling at the last tick that seated it, the organization's price at the tick that granted it, the number of
-- nodes that must be ready before it becomes active, and whether its keys are not written yet.
ALTER TABLE allocation ADD COLUMN seat_ceiling_cents BIGINT;
ALTER TABLE allocation ADD COLUMN grant_price_cents BIGINT;
ALTER TABLE allocation ADD COLUMN minimum_slots INTEGER;
ALTER TABLE allocation ADD COLUMN keys_due INTEGER NOT NULL DEFAULT 0;

-- Change points of the ceilings that ticks read.
CREATE TABLE ceiling_point (
  cluster TEXT COLLATE "C" NOT NULL REFERENCES cluster (name),
  ts BIGINT NOT NULL,
  ceiling_cents BIGINT NOT NULL,
  priced_at BIGINT NOT NULL,
  PRIMARY KEY (cluster, ts)
);

-- Change points of organizations' prices that differ from the pool's clearing price; null when they are equal again.
CREATE TABLE org_price_point (
  pool TEXT COLLATE "C" NOT NULL REFERENCES pool (name),
  org_id TEXT COLLATE "C" NOT NULL REFERENCES org (org_id),
  ts BIGINT NOT NULL,
  cents BIGINT,
  PRIMARY KEY (pool, org_id, ts)
);
