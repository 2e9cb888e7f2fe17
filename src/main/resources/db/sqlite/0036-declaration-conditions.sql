-- What a declaration is under besides its price: fewer GPUs than min_gpus are worth nothing, at until_at it lapses, and
-- once it has cost max_spend_cents from spend_since on.
ALTER TABLE cluster ADD COLUMN min_gpus INTEGER;
ALTER TABLE cluster ADD COLUMN until_at INTEGER;
ALTER TABLE cluster ADD COLUMN max_spend_cents INTEGER;
ALTER TABLE cluster ADD COLUMN spend_since INTEGER;
-- That an active node will be taken back, and when; since when a machine is ready whose grant is not complete.
ALTER TABLE allocation ADD COLUMN notice_reason TEXT;
ALTER TABLE allocation ADD COLUMN notice_ends_at INTEGER;
ALTER TABLE allocation ADD COLUMN ready_at INTEGER;
-- What a cluster wants to be told of, and what it has been told, as JSON; null for nothing.
ALTER TABLE cluster ADD COLUMN alerts TEXT;
