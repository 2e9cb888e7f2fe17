package dev.bourse.audit;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Compares rows with their seals. Pure. */
final class SealVerification {
  private SealVerification() {}

  /**
   * Returns the first fault of one batch.
   *
   * @param previous the previous batch; null if its record is missing, in which case only the rows
   *     are compared
   * @param rows the chain's rows after the previous batch up to this batch's last, by id; one row
   *     more than the batch has is enough to detect extra ones
   */
  static Optional<SealFault> check(
      Seal.@Nullable Link previous, Seal stored, List<RecordedRow> rows) {
    if (previous != null && stored.batch() != previous.batch() + 1) {
      long gone = previous.batch() + 1;
      return fault(gone, null, SealFault.What.GAP, "the seal of batch " + gone + " is missing");
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
          "the digest over the rows differs from the stored one");
    }
    if (previous != null && !stored.expected(previous.seal()).equals(stored.seal())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "the seal does not follow from batch %s and this batch's record"
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
          "the stored digests do not match its number of rows");
    }
    if (!stored.isPurged()
        && (stored.rows().id(0) != stored.firstId()
            || stored.rows().id(stored.rows().count() - 1) != stored.lastId())) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "its first and last row do not match its digests");
    }
    if (previous != null && stored.firstId() <= previous.lastId()) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "it starts before the end of the previous batch");
    }
    // Batches are purged in order, so a purged one after a kept one was not purged by the service.
    if (previous != null && stored.isPurged() && !previous.isPurged()) {
      return fault(
          stored.batch(),
          null,
          SealFault.What.SEAL,
          "it is marked as purged, but the previous one is kept");
    }
    return Optional.empty();
  }

  /** Compares in the order of ids, so the first difference names the row. */
  private static Optional<SealFault> checkRows(Seal stored, List<RecordedRow> rows) {
    RowDigests sealed = stored.rows();
    for (int i = 0; i < Math.max(sealed.count(), rows.size()); i++) {
      if (i == sealed.count() || (i < rows.size() && rows.get(i).id() < sealed.id(i))) {
        long id = rows.get(i).id();
        return fault(
            stored.batch(), id, SealFault.What.ADDED, "row " + id + " is not part of the seal");
      }
      long id = sealed.id(i);
      if (i == rows.size() || rows.get(i).id() > id) {
        return fault(
            stored.batch(), id, SealFault.What.MISSING, "row " + id + " was sealed but is missing");
      }
      if (!sealed.matches(i, RowDigests.of(rows.get(i)))) {
        return fault(
            stored.batch(), id, SealFault.What.CHANGED, "row " + id + " differs from its seal");
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
