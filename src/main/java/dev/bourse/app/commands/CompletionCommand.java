package dev.bourse.app.commands;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse completion}. */
@Command(
    name = "completion",
    description = {
      "Prints a script with which a shell completes the words of bourse commands.",
      "",
      """
      bash and zsh: source <(bourse completion bash). fish: bourse completion fish | source. Names \
      of clusters and nodes are those that commands saw last; nothing is asked of the service.\
      """
    },
    mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {
  /** The supported shells. */
  enum Shell {
    bash,
    zsh,
    fish
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
  private Shell shell = Shell.bash;

  @Override
  public Integer call() throws IOException {
    String name = "/completion/bourse." + shell.name();
    try (InputStream in = CompletionCommand.class.getResourceAsStream(name)) {
      byte[] script = Objects.requireNonNull(in, name).readAllBytes();
      PrintWriter out = spec.commandLine().getOut();
      out.print(new String(script, StandardCharsets.UTF_8));
      out.flush();
    }
    return 0;
  }
}
