package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.keyring.SecretExamination;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.transfer.ExportLoader;
import dev.bourse.store.transfer.ExportReader;
import dev.bourse.store.transfer.StoredTable;
import dev.bourse.store.transfer.TableSum;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse import}. */
@Command(
    name = "import",
    description = {
      """
      Fills an empty store from a file that export wrote, and migrates it first. No bourse \
      may be using the store. All rows are stored, or none: after a failure, also of the \
      machine, the store is as empty as before.\
      """,
      "",
      """
      The bytes of published files are not in the file: let serve find them where they were, in \
      the folder checkpoints of its data folder or in the same checkpoints.store. bourse admin \
      checkpoints scrub lists missing files.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the store holds the rows of the file, read back and compared",
      "2:nothing was imported; standard error says why"
    },
    mixinStandardHelpOptions = true)
final class ImportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Parameters(paramLabel = "FILE", description = "What export wrote, compressed or not.")
  private Path file = Path.of("");

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    PrintWriter err = spec.commandLine().getErr();
    try (ExportReader reader = ExportReader.open(file);
        WholeStore store = settings.openStore(WholeStore.Purpose.FILL)) {
      List<TableSum> sums = ExportLoader.load(store, reader, new ProgressLines(err, "importing"));
      List<TableSum> stored = readBack(store, sums, new ProgressLines(err, "reading back"));
      new SumTable(spec.commandLine().getOut()).print(stored);
      if (!stored.equals(sums)) {
        List<TableSum> differing = new ArrayList<>(stored);
        differing.removeAll(sums);
        throw StoreRefusedException.of(
            "%s does not hold what %s does: %s; do not serve from it",
            store.place(), file, differing);
      }
      spec.commandLine()
          .getOut()
          .printf("%s holds the rows of %s: read back, the same%n", store.place(), file);
      Config config = settings.read(Map.of());
      StoredFiles files = StoredFiles.of(store);
      files.locations(file.toString()).forEach(line -> err.println("bourse import: " + line));
      files.unreachable(config.blobStores()).forEach(line -> err.println("bourse import: " + line));
      // Rows stay encrypted, so it depends on the configured keys whether serve can start.
      SecretExamination.of(store, config.secret().keyring())
          .faults()
          .forEach(fault -> err.println("bourse import: serve does not start yet: " + fault));
    }
    return 0;
  }

  /** The sums of the stored rows, in the order of the file. */
  private static List<TableSum> readBack(
      WholeStore store, List<TableSum> sums, ProgressLines progress) {
    Map<String, StoredTable> tables = new HashMap<>();
    store.tables().forEach(table -> tables.put(table.name(), table));
    List<TableSum> stored = new ArrayList<>();
    for (TableSum sum : sums) {
      StoredTable table = tables.get(sum.table());
      if (table != null) {
        stored.add(TableSum.of(store, table, progress));
      }
    }
    return stored;
  }
}
