package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.blob.s3.S3UnusableException;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.FailureText;
import dev.bourse.remote.SharedHttpClient;
import dev.bourse.store.StoreRefusedException;
import dev.bourse.store.StoreUnavailableException;
import dev.bourse.store.transfer.InvalidExportException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry point, and the exit of commands that failed. A JVM loads the classes that the main
 * class refers to, so this class refers to none of the command line: {@code serve} does not need
 * it.
 */
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  /** The exit code of a failed command; the reason is on standard error. */
  public static final int EXIT_REFUSED = 2;

  /** The exit code of a process with a stuck event loop. */
  static final int EXIT_STUCK = 70;

  private Main() {}

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals(ShellCompletion.TYPED)) {
      // Avoids loading the commands, because a person waits for the completion.
      Commands.completion(CommandEnvironment.ofProcess())
          .candidates(List.of(args).subList(1, args.length))
          .forEach(System.out::println);
      return;
    }
    int code = plainServe(args).map(Main::serve).orElseGet(() -> Commands.execute(args));
    SharedHttpClient.close();
    if (code != 0) {
      System.exit(code);
    }
  }

  private static Optional<ServeArguments> plainServe(String[] args) {
    return args.length > 0 && args[0].equals("serve")
        ? ServeArguments.plain(List.of(args).subList(1, args.length))
        : Optional.empty();
  }

  private static int serve(ServeArguments given) {
    try {
      return new ServeCommand(given).call();
    } catch (Exception e) {
      return refuse("serve", e, new PrintWriter(System.err, true, Charset.defaultCharset()));
    }
  }

  /** Prints why a command failed. */
  static int refuse(String command, Exception failure, PrintWriter err) {
    if (!isExpected(failure)) {
      LOG.error("internal error", failure);
    }
    err.println("bourse " + command + ": " + FailureText.of(failure));
    return EXIT_REFUSED;
  }

  /** Whether a failure comes from the environment, so that its message is sufficient. */
  public static boolean isExpected(Throwable failure) {
    return failure instanceof Config.InvalidConfigException
        || failure instanceof InvalidExportException
        || failure instanceof IOException
        || failure instanceof UncheckedIOException
        || failure instanceof S3UnusableException
        || failure instanceof StoreRefusedException
        || failure instanceof StoreUnavailableException;
  }
}
