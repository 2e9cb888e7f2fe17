-- serves-from: 42
-- What the market's ticks read and decided, so that bills follow from it and not from what is written later.

-- When a declared ceiling counts at the latest; null for one of an earlier release, which counted at once.
ALTER TABLE activity ADD COLUMN effective_at BIGINT;
ALTER TABLE cluster ADD COLUMN effective_at BIGINT;

-- The ceiling that the last tick read, since when that was declared, and when it read it.
ALTER TABLE cluster ADD COLUMN gate_cents BIGINT;
ALTER TABLE cluster ADD COLUMN gate_priced_at BIGINT;
ALTER TABLE cluster ADD COLUMN gate_at BIGINT;
-- Seats it has won and has no nodes for yet, and when it last gave one up.
ALTER TABLE cluster ADD COLUMN awaited_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cluster ADD COLUMN gave_up_at BIGINT;

-- The ceiling at the tick that last seated it, what its organization paid at the tick that granted it, how many nodes
-- had to be ready then, and whether its keys are still to be written.
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

-- Change points of what an organization pays where that is not the pool's clearing price; null where it is again.
CREATE TABLE org_price_point (
  pool TEXT COLLATE "C" NOT NULL REFERENCES pool (name),
  org_id TEXT COLLATE "C" NOT NULL REFERENCES org (org_id),
  ts BIGINT NOT NULL,
  cents BIGINT,
  PRIMARY KEY (pool, org_id, ts)
);
