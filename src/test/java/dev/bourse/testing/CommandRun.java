package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.app.commands.Commands;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** A command as it ran in this process: its exit code and what it printed. */
public record CommandRun(int code, String out, String err) {

  public static CommandRun of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Commands.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int code = line.execute(arguments);
    return new CommandRun(code, out.toString(), err.toString());
  }

  /** The same with the options that name a store before the rest. */
  public static CommandRun on(List<String> store, String command, String... more) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(store);
    arguments.addAll(List.of(more));
    return of(arguments.toArray(String[]::new));
  }

  /** What it printed on standard output; it must have done its work. */
  public String succeeded() {
    assertEquals(0, code, err);
    return out;
  }

  /** The one line it says why; it must have refused, and shown nothing of its insides. */
  public String refused() {
    assertEquals(2, code, out + err);
    List<String> said = err.lines().filter(line -> line.startsWith("bourse ")).toList();
    assertEquals(1, said.size(), err);
    assertEquals(-1, err.indexOf("\tat "), err);
    assertEquals(-1, err.indexOf("Exception"), err);
    return said.get(0);
  }
}
