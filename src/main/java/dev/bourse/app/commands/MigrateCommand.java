package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.store.Migration;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code bourse migrate}. */
@Command(
    name = "migrate",
    description = {
      """
      Brings the store to this program's version, as serve does when it starts. The embedded \
      store must not be in use, unless only to --check.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the store is at this program's version",
      "2:the store is newer than this program, in use or cannot be reached, or an option is faulty",
      "3:with --check: there are migrations to apply"
    },
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {
  private static final int EXIT_PENDING = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Option(
      names = "--check",
      description = "Changes nothing; shows the migrations that would be applied.")
  private boolean check;

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    PrintWriter out = spec.commandLine().getOut();
    WholeStore.Purpose purpose = check ? WholeStore.Purpose.LOOK : WholeStore.Purpose.MIGRATE;
    try (WholeStore store = settings.openStore(purpose)) {
      List<Migration> migrations = check ? store.pending() : store.migrate();
      for (Migration migration : migrations) {
        out.printf(
            "%s %04d %s%n", check ? "pending" : "applied", migration.number(), migration.name());
      }
      int version =
          check && !migrations.isEmpty()
              ? migrations.get(0).versionBefore()
              : store.programVersion();
      out.printf(
          "%s is at version %d, this program's is %d%n",
          store.place(), version, store.programVersion());
      return check && !migrations.isEmpty() ? EXIT_PENDING : 0;
    }
  }
}
