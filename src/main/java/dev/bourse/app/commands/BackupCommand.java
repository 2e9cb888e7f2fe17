package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.app.ProgramVersion;
import dev.bourse.app.StoreOpening;
import dev.bourse.backup.Backup;
import dev.bourse.store.StoreRefusedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse backup}. */
@Command(
    name = "backup",
    description = {
      """
      Backs up a data folder with the embedded store, also while it is served: the rows as they \
      are at one moment, the published bytes that they name, and keys. Keep the backup as you keep \
      the data folder. The files that tell tokens (operator.json, world.json, demo.json), the \
      settings and the secret key are not in it.\
      """,
      "",
      """
      Into the folder of an earlier backup only the published bytes that it lacks are brought; \
      it is replaced by the new one once that is whole. On the data folder's file system they \
      are links, which take no room and are lost with that disk.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the backup is whole",
      "2:there is no new backup, and an earlier one is as it was; standard error says why",
      "3:the backup is whole, but for published bytes that the data folder has lost"
    },
    mixinStandardHelpOptions = true)
final class BackupCommand implements Callable<Integer> {
  private static final int EXIT_LOST = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Option(
      names = "--without-objects",
      description = "Leaves to others the published bytes that are in an object store.")
  private boolean isWithoutObjects;

  @Parameters(
      paramLabel = "DIR",
      description = "A folder that is empty, not there yet, or an earlier backup.")
  private Path folder = Path.of("");

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    Config config = settings.read(Map.of());
    if (config.postgres().isPresent()) {
      throw new StoreRefusedException(
          """
          the rows are in PostgreSQL, which backs itself up: archive its log (archive_mode = on) \
          and take pg_basebackup, to go back to any moment, or take pg_dump; then copy \
          checkpoints and signing-keys of each data folder\
          """,
          null);
    }
    if (!isWithoutObjects
        && config.blobStores().stream().anyMatch(store -> !store.equals(Config.LOCAL_BLOBS))) {
      throw new StoreRefusedException(
          """
          published bytes are in an object store, which no backup has: have it keep versions, or \
          copy the bucket by its own means, after the rows; give --without-objects to back up \
          the rest\
          """,
          null);
    }
    Backup.Taken taken =
        new Backup(
                StoreOpening.EMBEDDED,
                config.data(),
                folder,
                ProgramVersion.text(),
                Clock.systemUTC())
            .take();
    PrintWriter err = spec.commandLine().getErr();
    taken.lacks().forEach(lack -> err.println("bourse backup: " + lack));
    if (taken.inObjects() > 0) {
      err.printf(
          "bourse backup: published files in an object store are not in it: %d%n",
          taken.inObjects());
    }
    spec.commandLine()
        .getOut()
        .printf(
            "%s is whole; schema: %d, files: %d, bytes: %d; published files added: %d, bytes: %d%s%n",
            folder,
            taken.schema(),
            taken.files(),
            taken.bytes(),
            taken.added(),
            taken.addedBytes(),
            taken.added() == 0 ? "" : taken.areLinks() ? " (linked)" : " (copied)");
    return taken.faults().isEmpty() ? 0 : EXIT_LOST;
  }
}
