-- serves-from: 57
-- How many nodes in a row the tenant's Kubernetes cluster refused. The previous release takes a refusal for a fault of
-- the machine and leaves the count as it is.
ALTER TABLE cluster ADD COLUMN join_refusals INTEGER NOT NULL DEFAULT 0;
