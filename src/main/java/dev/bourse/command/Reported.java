package dev.bourse.command;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.Refused;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;

/**
 * How every command ends: what it was refused is told in one line, and its kind in the exit code.
 */
public interface Reported {
  /** The work of a command. */
  ExitCode work(PrintWriter out, PrintWriter err) throws Refused;

  /** Does the work with the streams of a command; gives the exit code. */
  static int run(CommandSpec spec, Reported command) {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      return command.work(out, err).code();
    } catch (Refused refused) {
      err.println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      out.flush();
      err.flush();
    }
  }
}
