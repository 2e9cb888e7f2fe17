-- serves-from: 57
-- The id of the node of an event, which the Kubernetes surface shows as the node's name. Null in rows of an earlier
-- release and for events without a node.
ALTER TABLE activity ADD COLUMN node_id TEXT;
