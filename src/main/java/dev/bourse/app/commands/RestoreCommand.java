package dev.bourse.app.commands;

import dev.bourse.app.StoreOpening;
import dev.bourse.backup.CorruptBackupException;
import dev.bourse.backup.Restore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse restore}. */
@Command(
    name = "restore",
    description = {
      """
      Restores a data folder from a backup, and compares each file with the backup. Until the \
      restore is complete, serve rejects the folder. Serve it with the settings and the secret \
      key of the service that was backed up, and never beside that service: both would grant the \
      same machines.\
      """,
      "",
      "With --verify and without --to it reads the backup and writes nothing."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:the folder is restored; with --verify the backup is sound",
      "2:nothing was restored; standard error says why",
      "3:the backup is not sound; standard output names the first thing that is wrong"
    },
    mixinStandardHelpOptions = true)
final class RestoreCommand implements Callable<Integer> {
  private static final int EXIT_UNSOUND = 3;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--to",
      paramLabel = "FOLDER",
      description = "The data folder: one that is empty or not there yet.")
  private @Nullable Path data;

  @Option(
      names = "--verify",
      description =
          """
          Proves every page, the seals of all trails and the ledger, and that each published \
          file is there.\
          """)
  private boolean verify;

  @Parameters(paramLabel = "DIR", description = "What backup wrote.")
  private Path folder = Path.of("");

  @Override
  public Integer call() throws IOException {
    if (data == null && !verify) {
      throw new ParameterException(
          spec.commandLine(), "give --to FOLDER to restore, --verify to check, or both");
    }
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      Restore backup = Restore.open(StoreOpening.EMBEDDED, folder);
      out.println(folder + ": " + backup.summary());
      backup.listLacks().forEach(lack -> err.println("bourse restore: " + lack));
      if (data == null) {
        backup.check();
      } else {
        backup.fill(data);
      }
      out.println("files: all are what was written");
      if (verify) {
        backup.prove().forEach(out::println);
        out.println(folder + " is sound");
      }
      if (data != null) {
        out.println(
            """
            tokens: a backup has none; use the tokens you have, or, without an operator's token, \
            start once with --set access.mint-operator=true, which writes one to operator.json\
            """);
        out.printf("%s is restored; serve --data %s goes on from there%n", data, data);
      }
      return 0;
    } catch (CorruptBackupException found) {
      out.println(found.getMessage());
      out.println(folder + " is not sound");
      return EXIT_UNSOUND;
    } finally {
      out.flush();
    }
  }
}
