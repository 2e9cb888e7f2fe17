-- serves-from: 41
-- How many steps a program must know to be started on a store that has this one; null where it must know it.
ALTER TABLE migration ADD COLUMN serves_from INTEGER;
