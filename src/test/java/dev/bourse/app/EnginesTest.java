package dev.bourse.app;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import org.junit.jupiter.api.Test;

/** The service does not know its engine, and every test of it says so or says why not. */
@EachEngine
class EnginesTest {
  @Test
  @OneEngine("classes are read; no engine runs")
  void everyTestOfTheServiceConcernsBothEnginesOrSaysWhyOne() {
    classes()
        .that(startTheService())
        .should()
        .beAnnotatedWith(EachEngine.class)
        .orShould()
        .beAnnotatedWith(ReplayedOnPostgres.class)
        .orShould()
        .beAnnotatedWith(OneEngine.class)
        .check(new ClassFileImporter().importPackages("dev.bourse"));
  }

  @Test
  void theServiceRunsOnTheEngineThisRunIsAbout() {
    try (RunningBourse bourse = RunningBourse.demo()) {
      assertEquals(
          "postgres".equals(System.getProperty("bourse.test.store")), bourse.database().isShared());
    }
  }

  private static DescribedPredicate<JavaClass> startTheService() {
    return DescribedPredicate.describe(
        "are tests that start the service",
        type ->
            type.getSimpleName().endsWith("Test")
                && type.getDirectDependenciesFromSelf().stream()
                    .anyMatch(
                        d ->
                            d.getTargetClass().isEquivalentTo(RunningBourse.class)
                                || d.getTargetClass().isEquivalentTo(ChildBourse.class)));
  }
}
