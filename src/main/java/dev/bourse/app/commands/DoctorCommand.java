package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.app.EnvironmentChecks;
import dev.bourse.core.FailureText;
import dev.bourse.doctor.Checkup;
import dev.bourse.doctor.Finding;
import dev.bourse.doctor.Finding.Verdict;
import dev.bourse.doctor.Notes;
import dev.bourse.store.StoreInUseException;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.transfer.WholeStore;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code bourse doctor}. */
@Command(
    name = "doctor",
    description = {
      """
      Looks at what a service with these settings stands on, and says what to do: the database, \
      the disk and the permissions of the data folder, open files, proxies, the object store, the \
      mail server, the directory, the identity provider, the keys and the certificate. Each is \
      asked as the service asks it, side by side; a service that runs goes on. Writes a small \
      file and a small object, and deletes them; changes nothing else, sends no mail, and shows \
      credentials to none but the database, the stores of files and the directory.\
      """,
      "",
      """
      Then it reads the whole store and reports whether it is sound: the log that a killed \
      process leaves and every page of an embedded store, or every row of a PostgreSQL database. \
      The embedded store must not be in use for this check; --quick skips it.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:nothing is at fault; with --quick neither rows nor the log were read",
      "2:the store was not read: its log is damaged, or it is in use, not there or not reached",
      "3:the store is not sound, or lacks a secret key; standard output says where",
      "4:the store was read or left out as asked, and something beside it is at fault"
    },
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
  private static final int EXIT_UNSOUND = 3;
  private static final int EXIT_SURROUNDINGS = 4;

  /** The longest time-out that makes sense for a request. */
  private static final int MOST_SECONDS = 600;

  /** All secrets are read like all rows, and there may be millions. */
  private static final Duration WHOLE = Duration.ofDays(1);

  private static final String RESTORE =
      "restore it from a backup, or export what can still be read";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Option(names = "--quick", description = "Reads neither all of the store nor its log.")
  private boolean isQuick;

  @Option(names = "--json", description = "Prints one JSON object, for programs.")
  private boolean isJson;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "20",
      description =
          "How long servers may take to answer, 1 to 600 (default: ${DEFAULT-VALUE}). Without"
              + " --quick, reading the store takes as long as it takes.")
  private int timeoutSeconds = 20;

  private final List<Finding> findings = new ArrayList<>();

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    if (timeoutSeconds < 1 || timeoutSeconds > MOST_SECONDS) {
      throw new ParameterException(
          spec.commandLine(),
          "--timeout: " + timeoutSeconds + " is not within 1 to " + MOST_SECONDS);
    }
    Config config = read();
    Duration timeout = Duration.ofSeconds(timeoutSeconds);
    EnvironmentChecks surroundings = new EnvironmentChecks(config, Clock.systemUTC(), timeout);
    Checkup checkup = new Checkup(timeout);
    checkup.of(surroundings.checks()).forEach(this::print);
    if (surroundings.isStoreOpened()) {
      (isQuick ? checkup : new Checkup(WHOLE)).of(surroundings.behindStore()).forEach(this::print);
    } else {
      surroundings
          .behindStore()
          .forEach(check -> skip(check.name(), "the store is not there, or was not reached"));
    }
    if (isQuick) {
      skip("store", "--quick leaves it out");
      return end(isStoreOutOfReach(surroundings) ? Main.EXIT_REFUSED : code());
    }
    try {
      print(examine());
    } catch (StoreRefusedException | StoreUnavailableException | IOException e) {
      Notes notes = new Notes();
      if (e instanceof StoreInUseException) {
        notes.skip(e.getMessage() + "; stop the service to have all of it read, or give --quick");
      } else {
        notes.fault(FailureText.of(e), "");
      }
      print(notes.finding("store"));
      end(Main.EXIT_REFUSED);
      throw e;
    }
    return end(code());
  }

  /** Reads the settings; faults are also reported in the JSON output. */
  private Config read() throws IOException, Config.InvalidConfigException {
    Notes notes = new Notes();
    try {
      Config config = settings.read(Map.of());
      notes.see("all settings can be used");
      print(notes.finding("configuration"));
      return config;
    } catch (Config.InvalidConfigException faulty) {
      String.valueOf(faulty.getMessage()).lines().forEach(fault -> notes.fault(fault, ""));
      if (isJson) {
        print(notes.finding("configuration"));
        end(Main.EXIT_REFUSED);
      }
      throw faulty;
    }
  }

  /** Whether the store cannot be opened; a store not created yet does not count. */
  private boolean isStoreOutOfReach(EnvironmentChecks surroundings) {
    return !surroundings.isStoreOpened()
        && findings.stream()
            .filter(finding -> finding.name().equals(EnvironmentChecks.DATABASE))
            .anyMatch(finding -> finding.verdict() == Verdict.FAULT);
  }

  private Finding examine() throws IOException, Config.InvalidConfigException {
    try (WholeStore store = settings.openStore(WholeStore.Purpose.READ)) {
      WholeStore.StoreExamination found = store.examine();
      Notes notes = new Notes();
      found.seen().forEach(notes::see);
      found.faults().forEach(fault -> notes.corrupt(fault, RESTORE));
      if (found.faults().isEmpty()) {
        notes.see(store.place() + " is sound");
      } else {
        notes.corrupt(store.place() + " is not sound", RESTORE);
      }
      return notes.finding("store");
    }
  }

  private void skip(String name, String why) {
    Notes notes = new Notes();
    notes.skip(why);
    print(notes.finding(name));
  }

  private void print(Finding finding) {
    findings.add(finding);
    if (!isJson) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(finding.text());
      out.flush();
    }
  }

  private int code() {
    if (findings.stream().anyMatch(Finding::isOfStore)) {
      return EXIT_UNSOUND;
    }
    return worst() == Verdict.FAULT ? EXIT_SURROUNDINGS : 0;
  }

  private Verdict worst() {
    return findings.stream()
        .map(Finding::verdict)
        .max(Comparator.naturalOrder())
        .orElse(Verdict.SKIPPED);
  }

  private int end(int code) {
    if (isJson) {
      JsonArray checks = new JsonArray();
      findings.forEach(finding -> checks.add(finding.json()));
      spec.commandLine()
          .getOut()
          .println(
              new JsonObject()
                  .put("finding", worst().label())
                  .put("exit_code", code)
                  .put("checks", checks)
                  .encodePrettily());
      spec.commandLine().getOut().flush();
    }
    return code;
  }
}
