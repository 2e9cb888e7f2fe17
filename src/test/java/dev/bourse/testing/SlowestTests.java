package dev.bourse.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Prints the slowest tests of a build from Surefire's reports, the slow tests that give no reason
 * with {@link Slow}, and the number of tests and their summed time for each execution. The build
 * runs it last: {@code SlowestTests FOLDER}.
 */
public final class SlowestTests {
  private static final int SHOWN = 30;

  /** A test over this gives a reason. */
  private static final double SLOW_SECONDS = 2;

  private record Timed(double seconds, String className, String name, String execution) {
    @Override
    public String toString() {
      return String.format(Locale.ROOT, "%7.1f s  %s.%s (%s)", seconds, className, name, execution);
    }
  }

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
    all.sort(Comparator.comparingDouble(Timed::seconds).reversed());
    all.stream().limit(SHOWN).forEach(System.out::println);
    List<Timed> unexplained =
        all.stream().filter(test -> test.seconds > SLOW_SECONDS && !isExplained(test)).toList();
    System.out.printf(
        Locale.ROOT,
        "%d tests took over %.0f s without @Slow, which gives the reason%s%n",
        unexplained.size(),
        SLOW_SECONDS,
        unexplained.isEmpty() ? "" : ":");
    unexplained.forEach(System.out::println);
  }

  /** Returns whether a test's method, any of its name, or its class gives a reason. */
  private static boolean isExplained(Timed test) {
    try {
      Class<?> type = Class.forName(test.className, false, SlowestTests.class.getClassLoader());
      // Arguments and numbers of invocations follow a method's name.
      String method = test.name.split("[^A-Za-z0-9_]", 2)[0];
      return type.isAnnotationPresent(Slow.class)
          || Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
              .flatMap(each -> Arrays.stream(each.getDeclaredMethods()))
              .anyMatch(
                  declared ->
                      declared.getName().equals(method)
                          && declared.isAnnotationPresent(Slow.class));
    } catch (ClassNotFoundException e) {
      return false;
    }
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
                  test.getAttribute("classname"),
                  test.getAttribute("name"),
                  execution));
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
