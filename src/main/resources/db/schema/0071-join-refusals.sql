-- serves-from: 57
-- When the tenant's Kubernetes cluster last refused a node, if none has joined since. The previous release takes a
-- refusal for a fault of the machine and leaves the time as it is.
ALTER TABLE cluster ADD COLUMN join_refused_at INTEGER;
