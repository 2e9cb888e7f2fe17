package dev.bourse.access;

import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.WholeStore;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads the age of a store's newest signing key, for operators' commands. */
public final class SigningKeyAge {
  private long newestMillis = Long.MIN_VALUE;

  private SigningKeyAge() {}

  /**
   * Reads the public halves, one row per process and rotation.
   *
   * @return when the newest was made, in epoch milliseconds; empty without one
   */
  public static OptionalLong newestMillis(WholeStore store) {
    SigningKeyAge age = new SigningKeyAge();
    for (StoredTable table : store.tables()) {
      if (table.name().equals("signing_key")) {
        int madeAt =
            table.columns().stream().map(StoredTable.Column::name).toList().indexOf("made_at");
        store.<RuntimeException>read(table, row -> age.look(row.get(madeAt)));
      }
    }
    return age.newestMillis == Long.MIN_VALUE
        ? OptionalLong.empty()
        : OptionalLong.of(age.newestMillis);
  }

  private void look(@Nullable Object madeAt) {
    if (madeAt instanceof Long millis) {
      newestMillis = Math.max(newestMillis, millis);
    }
  }
}
