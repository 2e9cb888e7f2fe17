package dev.bourse.command;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Runs a command and reports its refusal in one line on the error stream, and its kind in the exit
 * code.
 */
public interface CommandAction {
  /** The work of a command. */
  ExitCode work(PrintWriter out, PrintWriter err) throws RefusedException;

  /** Does the work with the streams of a command and returns the exit code. */
  static int run(CommandSpec spec, CommandAction command) {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try {
      return command.work(out, err).code();
    } catch (RefusedException refused) {
      err.println(refused.getMessage());
      return refused.exitCode().code();
    } finally {
      out.flush();
      err.flush();
    }
  }
}
