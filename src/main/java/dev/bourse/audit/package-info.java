/**
 * The audit trail.
 *
 * <p>A write's row is a {@link dev.bourse.store.Statement} in the write's own commit, so neither
 * exists without the other. Rows of audited reads are collected in memory by {@link
 * dev.bourse.audit.AuditedReads} and committed every 40 ms, so that a read never waits for the
 * disk; a crash loses at most 100 ms of them. Rows that a database server does not take in time go
 * to a {@link dev.bourse.audit.ReadJournal} on the disk, and from there to the server when it is
 * back.
 *
 * <p>Concurrent reads are stored not as rows but as entries of segments, one per commit and trail,
 * with up to 1,024 entries in the format of {@link dev.bourse.audit.ReadSegment}. {@link
 * dev.bourse.audit.ReadSegments} stores and finds them. An entry costs a byte or two if few tokens
 * read and 17 if thousands do, against 127 for a row; the writer spends a tenth of a microsecond on
 * it instead of ten. Up to three reads of a trail in a commit are stored as rows, and so is the
 * last read of a commit with segments: its id is above theirs, so the largest id always belongs to
 * a row. Pages, seals and retention process rows and entries alike, in the order of their ids. If a
 * purged batch ends within a segment, the rest of the segment is stored again.
 *
 * <p>Pages of one actor go through the stretches of ids in which {@link
 * dev.bourse.audit.ReadActors} has the actor: one row per actor and 65,536 ids, written when reads
 * are sealed. Within a stretch, and among unsealed segments, they use the filter of each segment,
 * one byte per actor, at some 50,000 segments a second. Rejected: a row per actor and segment,
 * which costs more than the entries of many different tokens.
 *
 * <p>{@link dev.bourse.audit.TrailStore} reads a trail a page at a time, newest first, by ids below
 * the last one seen; a page does not count or skip earlier entries. {@link
 * dev.bourse.audit.TrailExport} joins the pages of a whole trail.
 *
 * <p>A page starts with the newest settled row. If several processes write, commits end in another
 * order than their ids were allocated in, so a client that pages or polls by id would miss a row
 * that appears below. A row is settled when no more rows can appear below it, and only settled rows
 * are sealed. After the promotion of a standby that lacks some rows, new ids are above all that
 * were shown.
 *
 * <p>Two indexes of the rows, by organization and by actor, serve the two kinds of trails. With
 * both, an appended row costs the writing thread 12 to 20 µs with many different keys and 4 µs with
 * one. So a commit has at most 1,024 rows, which hold the writer for some 20 ms, and an INSERT has
 * 64.
 *
 * <p>In the background {@link dev.bourse.audit.Sealer} puts settled rows into batches, each sealed
 * with a digest over its rows and the previous batch. {@link dev.bourse.audit.SealService} verifies
 * the chain and names the first row that differs. {@link dev.bourse.audit.TrailRetention} deletes
 * expired rows in whole batches. A seal contains one digest over the rows' digests, which is all
 * that a purged batch keeps. Seals have no key, because anybody who controls the store of a process
 * could read a key in the same process. They prove that rows match a copy of a seal kept elsewhere.
 *
 * <p>Rejected: a digest chained from row to row in the write's own commit (all writes of an
 * organization would wait for each other), a seal over all trails (an organization's rows could not
 * be verified or purged separately), deleting single rows by age (a chain has no place for gaps),
 * and monthly partitions in PostgreSQL (each batch is verified before it is deleted, and an altered
 * one stays as evidence with all later ones, so a month could be dropped only when it is empty; and
 * writes, which are kept for ever by default, would keep every month).
 *
 * <p>Rejected: a commit per read (the flush to disk would limit the read rate), dropping rows while
 * the store is unreachable (reads beyond a limit are rejected instead), and a journal of all reads
 * (each read would be written to disk twice, although the store takes nearly all of them directly).
 */
@NullMarked
package dev.bourse.audit;

import org.jspecify.annotations.NullMarked;
