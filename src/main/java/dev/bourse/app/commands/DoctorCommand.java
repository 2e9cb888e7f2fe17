package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.app.StoreOpening;
import dev.bourse.keyring.SecretExamination;
import dev.bourse.store.transfer.WholeStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code bourse doctor}. */
@Command(
    name = "doctor",
    description = {
      """
      Reads all of the store and tells whether it is sound: of the embedded one the log, \
      which a process that was killed leaves, and every page of the file; of a PostgreSQL \
      database every row. Tells too whether the secret key that is given reads what is \
      encrypted, and when the certificate of tls.cert ends. Changes nothing. The embedded store must not be in use.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the store is sound",
      "2:the store was not read: its log is damaged, or it is in use, not there or not reached",
      "3:the store is not sound, or lacks a secret key; standard output says where"
    },
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
  private static final int EXIT_UNSOUND = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Override
  public Integer call() throws IOException, Config.Faulty {
    PrintWriter out = spec.commandLine().getOut();
    settings
        .read(Map.of())
        .edge()
        .tls()
        .ifPresent(tls -> out.println("certificate: " + tls.pair()));
    try (WholeStore store = settings.openStore(WholeStore.Purpose.READ)) {
      WholeStore.Examination found = store.examine();
      found.seen().forEach(out::println);
      found.faults().forEach(out::println);
      boolean isSound = found.faults().isEmpty();
      boolean isReadable = isSound && canDecrypt(store, out);
      out.println(
          store.place()
              + (isSound
                  ? " is sound"
                  : " is not sound; restore it from a backup, or export what can still be read"));
      out.flush();
      return isReadable ? 0 : EXIT_UNSOUND;
    }
  }

  private boolean canDecrypt(WholeStore store, PrintWriter out) throws IOException, Config.Faulty {
    Config config = settings.read(Map.of());
    WholeStore.Examination secrets = SecretExamination.of(store, config.secret().keyring());
    if (config.postgres().isPresent() && config.secret().keyring().isEmpty()) {
      out.println(StoreOpening.NOTHING_SHARED);
    }
    secrets.seen().forEach(out::println);
    secrets.faults().forEach(out::println);
    return secrets.faults().isEmpty();
  }
}
