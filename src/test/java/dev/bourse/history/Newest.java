package dev.bourse.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The newest version that was told by a given time. */
final class Newest {
  private final List<RecordedOperation> told = new ArrayList<>();
  private long[] times = new long[0];
  private RecordedOperation[] newest = new RecordedOperation[0];
  private boolean isSorted = true;

  void add(RecordedOperation operation) {
    told.add(operation);
    isSorted = false;
  }

  /** The operation that told the newest version of those that were over before this time. */
  @Nullable RecordedOperation before(long micros) {
    if (!isSorted) {
      sort();
    }
    int found = Arrays.binarySearch(times, micros);
    int last = found < 0 ? -found - 2 : found - 1;
    while (last >= 0 && times[last] >= micros) {
      last--;
    }
    return last < 0 ? null : newest[last];
  }

  private void sort() {
    told.sort(Comparator.comparingLong(RecordedOperation::completedMicros));
    times = told.stream().mapToLong(RecordedOperation::completedMicros).toArray();
    newest = new RecordedOperation[times.length];
    for (int i = 0; i < newest.length; i++) {
      RecordedOperation one = told.get(i);
      newest[i] = i > 0 && newest[i - 1].version() >= one.version() ? newest[i - 1] : one;
    }
    isSorted = true;
  }
}
