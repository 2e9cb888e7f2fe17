package dev.bourse.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Prints the slowest tests of a build from Surefire's reports, and the number of tests and their
 * summed time for each execution. The build runs it last: {@code SlowestTests FOLDER}.
 */
public final class SlowestTests {
  private static final int SHOWN = 30;

  private record Timed(double seconds, String name) {}

  private SlowestTests() {}

  /**
   * Prints the report.
   *
   * @param arguments the folder of reports: those of the default execution, and a subfolder for
   *     each other execution
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    if (!Files.isDirectory(folder)) {
      System.out.println("no tests ran");
      return;
    }
    List<Timed> all = new ArrayList<>(ofExecution(folder, "default"));
    try (Stream<Path> executions = Files.list(folder)) {
      for (Path execution : executions.filter(Files::isDirectory).sorted().toList()) {
        all.addAll(ofExecution(execution, String.valueOf(execution.getFileName())));
      }
    }
    System.out.println("the " + SHOWN + " slowest tests:");
    all.stream()
        .sorted(Comparator.comparingDouble(Timed::seconds).reversed())
        .limit(SHOWN)
        .forEach(test -> System.out.printf(Locale.ROOT, "%7.1f s  %s%n", test.seconds, test.name));
  }

  private static List<Timed> ofExecution(Path folder, String execution)
      throws IOException, ParserConfigurationException, SAXException {
    List<Timed> tests = new ArrayList<>();
    DocumentBuilder reader = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(SlowestTests::isReport).toList()) {
        NodeList cases = reader.parse(file.toFile()).getElementsByTagName("testcase");
        for (int i = 0; i < cases.getLength(); i++) {
          Element test = (Element) cases.item(i);
          tests.add(
              new Timed(
                  Double.parseDouble(test.getAttribute("time").replace(",", "")),
                  "%s.%s (%s)"
                      .formatted(
                          test.getAttribute("classname"), test.getAttribute("name"), execution)));
        }
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%s: %d tests, %.0f s summed%n",
        execution,
        tests.size(),
        tests.stream().mapToDouble(Timed::seconds).sum());
    return tests;
  }

  private static boolean isReport(Path file) {
    String name = String.valueOf(file.getFileName());
    return name.startsWith("TEST-") && name.endsWith(".xml");
  }
}
