-- serves-from: 57
-- The history of the database in which a node was last granted or its reimage began; null if no release noted it. In
-- another history the node may have a tenant whose grant the database lost.
ALTER TABLE node ADD COLUMN lineage TEXT;
