package dev.bourse.client.trail;

import dev.bourse.audit.TrailProof;
import dev.bourse.audit.TrailProof.ProvenChain;
import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.core.Times;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse trail verify}. */
@Command(
    name = "verify",
    description = {
      "Proves that the files of a trail stream are whole: nothing in them was changed, left out or"
          + " put in. Nothing is asked of the service.",
      "",
      "The files may be named in any order, and hold several batches each. Compare HEAD with the"
          + " one that the service shows, or showed when you noted it: nothing else reveals rows"
          + " that are missing after it.",
      "",
      "A batch whose rows were past their time is sent as its seal alone, and a file whose rows were"
          + " cut out can be made to look the same. So batches without rows are named, and accepted"
          + " with --allow-purged alone."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      " 0:all of it is whole",
      " 2:the command line is wrong, or a file cannot be read",
      " 4:something is not as it was sealed; the first such line is named, or the batches without rows"
    })
final class TrailVerifyCommand implements Callable<Integer> {
  private static final String SUFFIX = ".ndjson";

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "Files of batches; a folder stands for all *.ndjson files in it.")
  private List<Path> named = List.of();

  @Option(
      names = "--allow-purged",
      description = "Accept batches without rows: they were past their time when they were sent.")
  private boolean allowPurged;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  // Picocli replaces it before the call.
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() {
    try {
      List<ProvenChain> proven = proven();
      spec.commandLine().getOut().print(format.get().print(shown(proven)));
      return ExitCode.OK.code();
    } catch (RefusedException refused) {
      spec.commandLine().getErr().println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      spec.commandLine().getOut().flush();
      spec.commandLine().getErr().flush();
    }
  }

  private List<ProvenChain> proven() throws RefusedException {
    TrailProof proof = new TrailProof();
    try {
      for (Path file : files()) {
        read(file, proof);
      }
      List<ProvenChain> chains = proof.chains();
      if (chains.isEmpty()) {
        throw new RefusedException(ExitCode.USAGE, "there is no batch in the files");
      }
      requireRows(chains);
      return chains;
    } catch (TrailProof.UnsoundTrailException unsound) {
      throw new RefusedException(ExitCode.NOT_WHOLE, String.valueOf(unsound.getMessage()));
    }
  }

  private void requireRows(List<ProvenChain> chains) throws RefusedException {
    if (allowPurged) {
      return;
    }
    List<String> without = new ArrayList<>();
    for (ProvenChain chain : chains) {
      if (chain.purgedBatches() > 0) {
        without.add(
            "%s of the %s (%s)".formatted(chain.purgedBatches(), chain.name(), chain.purged()));
      }
    }
    if (!without.isEmpty()) {
      throw new RefusedException(
          ExitCode.NOT_WHOLE,
          "batches without rows: "
              + String.join("; ", without)
              + "; if their rows were past their time when they were sent, say --allow-purged");
    }
  }

  private List<Path> files() throws RefusedException {
    List<Path> files = new ArrayList<>();
    for (Path path : named) {
      if (!Files.isDirectory(path)) {
        files.add(path);
        continue;
      }
      try (Stream<Path> found = Files.walk(path)) {
        found
            .filter(each -> each.toString().endsWith(SUFFIX) && Files.isRegularFile(each))
            .sorted()
            .forEach(files::add);
      } catch (IOException e) {
        throw unreadable(path, e);
      } catch (UncheckedIOException e) {
        throw unreadable(path, Objects.requireNonNull(e.getCause()));
      }
    }
    return files;
  }

  private static void read(Path file, TrailProof proof)
      throws RefusedException, TrailProof.UnsoundTrailException {
    try (InputStream bytes = new BufferedInputStream(Files.newInputStream(file))) {
      BoundedLines lines = new BoundedLines(bytes);
      String line = lines.next();
      while (line != null) {
        if (!line.isEmpty()) {
          proof.line(file.toString(), lines.number(), line);
        }
        line = lines.next();
      }
      proof.end(file.toString(), lines.number());
    } catch (BoundedLines.UnreadableLineException e) {
      throw new RefusedException(ExitCode.NOT_WHOLE, file + ":" + e.getMessage());
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static RefusedException unreadable(Path path, IOException e) {
    return new RefusedException(ExitCode.USAGE, "cannot read " + path + ": " + IoWords.of(e));
  }

  private static JsonObject shown(List<ProvenChain> proven) {
    JsonArray chains = new JsonArray();
    for (ProvenChain chain : proven) {
      chains.add(
          new JsonObject()
              .put("org_id", chain.orgId())
              .put("chain", chain.name())
              .put("batches", chain.batches())
              .put("purged", chain.purgedBatches())
              .put("without_rows", chain.purged())
              .put("rows", chain.rows())
              .put("first_batch", chain.firstBatch())
              .put("last_batch", chain.lastBatch())
              .put(
                  "whole",
                  chain.firstBatch() == 1
                      ? "from the beginning"
                      : "from batch " + chain.firstBatch())
              .put("from", time(chain, chain.oldestMillis()))
              .put("to", time(chain, chain.newestMillis()))
              .put("head", chain.head()));
    }
    return new JsonObject().put("chains", chains);
  }

  private static String time(ProvenChain chain, long millis) {
    return chain.rows() == 0 ? "-" : Times.rfc3339(millis);
  }
}
