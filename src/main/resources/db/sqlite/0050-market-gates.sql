-- serves-from: 42
-- Ceilings that the market's ticks read and prices that they set. Bills use these and not later declarations.

-- When a declared ceiling is in force at the latest; null in rows of an earlier release, where it was at once.
ALTER TABLE activity ADD COLUMN effective_at INTEGER;
ALTER TABLE cluster ADD COLUMN effective_at INTEGER;

-- The ceiling that the last tick read, when it was declared, and when the tick read it.
ALTER TABLE cluster ADD COLUMN gate_cents INTEGER;
ALTER TABLE cluster ADD COLUMN gate_priced_at INTEGER;
ALTER TABLE cluster ADD COLUMN gate_at INTEGER;
-- Seats won without a node yet, and when the cluster last gave up a seat or a new node.
ALTER TABLE cluster ADD COLUMN awaited_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cluster ADD COLUMN gave_up_at INTEGER;

-- The ceiling at the last tick that seated it, the organization's price at the tick that granted it, the number of
-- nodes that must be ready before it becomes active, and whether its keys are not written yet.
ALTER TABLE allocation ADD COLUMN seat_ceiling_cents INTEGER;
ALTER TABLE allocation ADD COLUMN grant_price_cents INTEGER;
ALTER TABLE allocation ADD COLUMN minimum_slots INTEGER;
ALTER TABLE allocation ADD COLUMN keys_due INTEGER NOT NULL DEFAULT 0;

-- Change points of the ceilings that ticks read.
CREATE TABLE ceiling_point (
  cluster TEXT NOT NULL REFERENCES cluster (name),
  ts INTEGER NOT NULL,
  ceiling_cents INTEGER NOT NULL,
  priced_at INTEGER NOT NULL,
  PRIMARY KEY (cluster, ts)
);

-- Change points of organizations' prices that differ from the pool's clearing price; null when they are equal again.
CREATE TABLE org_price_point (
  pool TEXT NOT NULL REFERENCES pool (name),
  org_id TEXT NOT NULL REFERENCES org (org_id),
  ts INTEGER NOT NULL,
  cents INTEGER,
  PRIMARY KEY (pool, org_id, ts)
);
