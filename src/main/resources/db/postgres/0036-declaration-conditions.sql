-- What a declaration is under besides its price: fewer GPUs than min_gpus are worth nothing, at until_at it lapses, and
-- once it has cost max_spend_cents from spend_since on.
ALTER TABLE cluster ADD COLUMN min_gpus BIGINT;
ALTER TABLE cluster ADD COLUMN until_at BIGINT;
ALTER TABLE cluster ADD COLUMN max_spend_cents BIGINT;
ALTER TABLE cluster ADD COLUMN spend_since BIGINT;
-- That an active node will be taken back, and when; since when a machine is ready whose grant is not complete.
ALTER TABLE allocation ADD COLUMN notice_reason TEXT COLLATE "C";
ALTER TABLE allocation ADD COLUMN notice_ends_at BIGINT;
ALTER TABLE allocation ADD COLUMN ready_at BIGINT;
-- What a cluster wants to be told of, and what it has been told, as JSON; null for nothing.
ALTER TABLE cluster ADD COLUMN alerts TEXT COLLATE "C";
