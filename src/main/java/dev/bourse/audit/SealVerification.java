package dev.bourse.audit;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Compares rows with the seals over them. Pure. */
final class SealVerification {
  private SealVerification() {}

  /**
   * The first fault of one batch.
   *
   * @param previous the batch before; null when its record is gone, and then only the rows are
   *     compared
   * @param rows the chain's rows after the previous batch up to this batch's last, by id; of more
   *     than the batch has, one more will do
   */
  static Optional<SealFault> check(
      Seal.@Nullable Link previous, Seal stored, List<RecordedRow> rows) {
    if (previous != null && stored.batch() != previous.batch() + 1) {
      long gone = previous.batch() + 1;
      return fault(gone, null, SealFault.What.GAP, "the seal of batch " + gone + " is gone");
    }
    Optional<SealFault> form = checkForm(previous, stored);
    if (form.isPresent()) {
      return form;
    }
    Optional<SealFault> row = checkRows(stored, rows);
    if (row.isPresent()) {
      return row;
    }
    if (!stored.isPurged() && !Arrays.equals(digests(rows).content(), stored.rows().content())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "the digest over the rows is not the one kept of them");
    }
    if (previous != null && !stored.expected(previous.seal()).equals(stored.seal())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "the seal is not the one that follows from batch %s and what is kept of this one"
              .formatted(previous.batch()));
    }
    return Optional.empty();
  }

  private static Optional<SealFault> checkForm(Seal.@Nullable Link previous, Seal stored) {
    boolean plausible = stored.rowCount() >= 1 && stored.rowCount() <= Seal.MAX_ROWS;
    if (!plausible || !stored.rows().areOf(stored.isPurged() ? 0 : stored.rowCount())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "the digests kept are not those of the rows it counts");
    }
    if (!stored.isPurged()
        && (stored.rows().id(0) != stored.firstId()
            || stored.rows().id(stored.rows().count() - 1) != stored.lastId())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "its first and last row are not those of its digests");
    }
    if (previous != null && stored.firstId() <= previous.lastId()) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "it begins before the batch it follows has ended");
    }
    // Batches are purged in their order, so a purged one after one that is kept was not purged.
    if (previous != null && stored.isPurged() && !previous.isPurged()) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "it is marked as purged, but the one before is kept");
    }
    return Optional.empty();
  }

  /** Both are in the order of their ids, so the first place where they part names the row. */
  private static Optional<SealFault> checkRows(Seal stored, List<RecordedRow> rows) {
    RowDigests sealed = stored.rows();
    for (int i = 0; i < Math.max(sealed.count(), rows.size()); i++) {
      if (i == sealed.count() || (i < rows.size() && rows.get(i).id() < sealed.id(i))) {
        long id = rows.get(i).id();
        return fault(
            stored.batch(), id, SealFault.What.ADDED, "row " + id + " was not sealed with it");
      }
      long id = sealed.id(i);
      if (i == rows.size() || rows.get(i).id() > id) {
        return fault(
            stored.batch(), id, SealFault.What.MISSING, "row " + id + " was sealed and is gone");
      }
      if (!sealed.matches(i, RowDigests.of(rows.get(i)))) {
        return fault(
            stored.batch(), id, SealFault.What.CHANGED, "row " + id + " is not as it was sealed");
      }
    }
    return Optional.empty();
  }

  private static RowDigests digests(List<RecordedRow> rows) {
    RowDigests.Gathered gathered = new RowDigests.Gathered();
    rows.forEach(row -> gathered.add(row.id(), RowDigests.of(row)));
    return gathered.all();
  }

  private static Optional<SealFault> fault(
      long batch, @Nullable Long rowId, SealFault.What what, String detail) {
    return Optional.of(new SealFault(batch, rowId, what, detail));
  }
}
