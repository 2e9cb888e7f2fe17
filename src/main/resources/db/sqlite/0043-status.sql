-- serves-from: 42
-- Since when the holder of a lease has it, and its epoch: a process of the release before takes leases without them.
ALTER TABLE lease ADD COLUMN acquired_at INTEGER;
ALTER TABLE lease ADD COLUMN acquired_epoch INTEGER;
-- For who looks at all pools: the machines that wait for an operator, and the organizations that are held.
CREATE INDEX node_quarantined ON node (quarantined_at, node_id) WHERE quarantined_at IS NOT NULL;
CREATE INDEX billing_org_held ON billing_org (hold_since, org_id) WHERE hold_stage <> 'NONE';
