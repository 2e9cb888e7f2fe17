/**
 * The record of who did what.
 *
 * <p>A write's row is a {@link dev.bourse.store.Statement} in the write's own commit, so neither
 * exists without the other. Rows of audited reads are gathered in memory by {@link
 * dev.bourse.audit.AuditedReads} and committed every 40 ms, so that a read never waits for the
 * disk; a crash loses at most 100 ms of them. Those that a database server does not take in time go
 * to a {@link dev.bourse.audit.ReadJournal} on the disk, and from there to the server when it is
 * back.
 *
 * <p>Reads that come together are not rows but entries of segments: one a commit and trail, of up
 * to 1,024 entries in {@link dev.bourse.audit.ReadSegment}'s bytes, which {@link
 * dev.bourse.audit.ReadSegments} stores and finds. An entry costs a byte or two where few tokens
 * read and 17 where thousands do, and a row 127; the writer spends a tenth of a microsecond on it
 * and not ten. Three reads or fewer of a trail in a commit are rows still, and so is the last read
 * of a commit with segments: its id is above theirs, and the greatest of all ids always a row's.
 * Pages, seals and retention take rows and entries alike, in the order of their ids. Where a batch
 * that is purged ends amid a segment, what is left of it is stored anew.
 *
 * <p>Pages of one actor go from stretch to stretch of ids in which {@link
 * dev.bourse.audit.ReadActors} has it: a row for an actor and 65,536 ids, made when reads are
 * sealed. Within a stretch, and in what is not sealed yet, they look at the filter that each
 * segment has, of a byte an actor, at some 50,000 a second. Rejected: a row for each actor of a
 * segment, which costs more than the scattered tokens' entries do.
 *
 * <p>A trail is read a page at a time by {@link dev.bourse.audit.TrailStore}, newest first, by id
 * below the last one seen: no page counts or skips what is before it. {@link
 * dev.bourse.audit.TrailExport} joins the pages for whoever wants the whole trail.
 *
 * <p>A page begins with the newest row below which none can appear any more: where several
 * processes write, ids are handed out in another order than commits end in, and whoever pages or
 * polls by id would miss a row that appears behind them. These rows are settled, and only they are
 * sealed. Ids go on above all that were shown when a standby is promoted that lacks some rows.
 *
 * <p>Two indexes of the rows, by organization and by actor, serve the two trails. With both, an
 * appended row costs the writing thread 12 to 20 µs when keys are scattered and 4 µs when there is
 * one. So a commit has 1,024 rows at most, which holds the writer for some 20 ms, and an INSERT has
 * 64.
 *
 * <p>In the background {@link dev.bourse.audit.Sealer} puts settled rows into batches, each sealed
 * with a digest over its rows and the batch before; {@link dev.bourse.audit.SealService} verifies
 * the chain and names the first row that differs. {@link dev.bourse.audit.TrailRetention} deletes
 * rows past their time, whole batches at a time. A seal is made from one digest over the rows'
 * digests, so that much is all that has to stay of a purged batch. Seals have no key: one in the
 * same process would be in the same hands as the store. They prove what was noted elsewhere.
 *
 * <p>Rejected: a digest chained from row to row in the write's own commit (all writes of an
 * organization would wait for each other), a seal over all trails (an organization's rows could not
 * be proven, or purged, apart), deleting single rows by age (a chain has no place for holes), and
 * partitions by month in PostgreSQL (each batch is verified before it goes, and one that was
 * changed stays as evidence with all after it, so that a month could be dropped only once it is
 * empty; and writes, kept for ever by default, would hold every month).
 *
 * <p>Rejected: a commit for each read (the flush to disk would bound reading), dropping rows when
 * the store is away (past a bound reads are refused instead), and a journal of all reads (the disk
 * would be written to twice for each read, of which all but those of an outage are stored anyway).
 */
@NullMarked
package dev.bourse.audit;

import org.jspecify.annotations.NullMarked;
