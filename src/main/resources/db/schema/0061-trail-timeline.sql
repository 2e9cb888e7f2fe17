-- serves-from: 57
-- for: postgres
-- The timeline of the server for which ids of the trail were last raised: a standby that is promoted begins a new one,
-- and may lack ids that were shown. A sequence, because it is set without waiting and read without a row's versions.
-- Some hosted servers have no timeline to tell.
CREATE SEQUENCE audit_timeline;
DO 'BEGIN PERFORM setval(''audit_timeline'', CAST(CAST(''x'' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS bit(32)) AS bigint)); EXCEPTION WHEN OTHERS THEN NULL; END';
