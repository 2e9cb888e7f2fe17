package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.blob.s3.S3Unusable;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.core.FailureText;
import dev.bourse.remote.Connections;
import dev.bourse.store.StoreRefused;
import dev.bourse.store.StoreUnavailable;
import dev.bourse.store.transfer.ExportFault;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the program begins, and how a command ends that could not do its work. A JVM loads what the
 * methods of the class it begins with name, so nothing of the command line stands in them: to serve
 * takes none of it.
 */
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  /** Exit code of a command that did not do its work; what it says on standard error tells why. */
  public static final int EXIT_REFUSED = 2;

  /** Exit code of a process one of whose event loops had stopped. */
  static final int EXIT_STUCK = 70;

  private Main() {}

  public static void main(String[] args) {
    if (args.length > 0 && args[0].equals(Completion.TYPED)) {
      // Without what makes a command: a person waits for it in the middle of a word.
      Commands.completion(CommandEnvironment.ofProcess())
          .candidates(List.of(args).subList(1, args.length))
          .forEach(System.out::println);
      return;
    }
    int code = plainServe(args).map(Main::serve).orElseGet(() -> Commands.execute(args));
    Connections.close();
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

  /** Tells why a command did not do its work. */
  static int refuse(String command, Exception failure, PrintWriter err) {
    if (!isExpected(failure)) {
      LOG.error("a fault of the program itself", failure);
    }
    err.println("bourse " + command + ": " + FailureText.of(failure));
    return EXIT_REFUSED;
  }

  /** Whether a failure is of the surroundings, so that its message says all there is to know. */
  public static boolean isExpected(Throwable failure) {
    return failure instanceof Config.Faulty
        || failure instanceof ExportFault
        || failure instanceof IOException
        || failure instanceof UncheckedIOException
        || failure instanceof S3Unusable
        || failure instanceof StoreRefused
        || failure instanceof StoreUnavailable;
  }
}
