package dev.bourse.keyring;

import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.WholeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Checks for operators' commands whether a process with these keys could start on a store. */
public final class SecretExamination {
  private final Keyring keyring;
  private final Map<String, Long> readable = new TreeMap<>();
  private final Map<String, Long> wanted = new TreeMap<>();
  private final List<String> faults = new ArrayList<>();

  private SecretExamination(Keyring keyring) {
    this.keyring = keyring;
  }

  /** Reads every encrypted row; stores of older versions may have no such table. */
  public static WholeStore.StoreExamination of(WholeStore store, Keyring keyring) {
    SecretExamination examination = new SecretExamination(keyring);
    for (StoredTable table : store.tables()) {
      if (table.name().equals(SharedSecrets.TABLE)) {
        List<String> columns = table.columns().stream().map(StoredTable.Column::name).toList();
        store.read(table, values -> examination.look(columns, values));
      }
    }
    return examination.result();
  }

  private void look(List<String> columns, List<@Nullable Object> values) {
    String name = String.valueOf(values.get(columns.indexOf("name")));
    Encrypted encrypted =
        new Encrypted(
            String.valueOf(values.get(columns.indexOf("key_id"))),
            String.valueOf(values.get(columns.indexOf("ciphertext"))));
    if (!keyring.ids().contains(encrypted.keyId())) {
      wanted.merge(encrypted.keyId(), 1L, Long::sum);
      return;
    }
    try {
      keyring.decrypt(SharedSecrets.place(name), encrypted);
      readable.merge(encrypted.keyId(), 1L, Long::sum);
    } catch (DecryptionException altered) {
      faults.add(altered.getMessage());
    }
  }

  private WholeStore.StoreExamination result() {
    List<String> seen = new ArrayList<>();
    readable.forEach(
        (id, count) ->
            seen.add("secrets: %s encrypted with secret key %s can be read".formatted(count, id)));
    if (!wanted.isEmpty()) {
      faults.add(SharedSecrets.refusal(wanted, keyring));
    }
    return new WholeStore.StoreExamination(seen, faults);
  }
}
