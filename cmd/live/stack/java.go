package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// DefaultKafka is the version of Apache Kafka that [Up] fetches unless another is
// asked for.
const DefaultKafka = "4.4.0"

// oldestJava is what Kafka 4's brokers need.
const oldestJava = 17

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// findJava returns the java of JAVA_HOME, or else of PATH.
func findJava(ctx context.Context) (string, *Need) {
	need := &Need{
		What: fmt.Sprintf("Java %d or later", oldestJava), Remedy: "set JAVA_HOME",
		Package: "default-jre-headless",
	}
	java, err := exec.LookPath("java")
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java, err = filepath.Join(home, "bin", "java"), nil
		if !isFile(java) {
			need.Why = "JAVA_HOME has no bin/java"
			return "", need
		}
	}
	if err != nil {
		return "", need
	}
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		need.Why = java + " -version: " + err.Error()
		return "", need
	}
	found := javaVersion.FindSubmatch(out)
	if found == nil {
		need.Why = java + " does not say its version"
		return "", need
	}
	if major, err := strconv.Atoi(string(found[1])); err != nil || major < oldestJava {
		need.Why = fmt.Sprintf("%s is version %s", java, found[1])
		return "", need
	}
	return java, nil
}

// fetching returns a class path and the version of Kafka that it is of.
type fetching func(ctx context.Context, tell func(string)) (jars, version string, err error)

// findJars returns how to get Kafka's jars: from the official layout in KAFKA_HOME,
// from the cache, or from Maven's repositories into the cache.
func findJars(o Options) (fetching, *Need) {
	if home := os.Getenv("KAFKA_HOME"); home != "" {
		return homeJars(home)
	}
	folder := "kafka-" + o.Kafka
	base, err := cacheFolder()
	if err != nil || !isDir(filepath.Join(base, folder)) {
		if _, err := exec.LookPath("mvn"); err != nil {
			return nil, &Need{
				What: "Maven, to fetch Kafka", Package: "maven",
				Remedy: "set KAFKA_HOME to an unpacked Apache Kafka",
			}
		}
	}
	return func(ctx context.Context, tell func(string)) (string, string, error) {
		dir, err := cached(folder, func(dir string) error {
			tell("fetching Kafka " + o.Kafka)
			return fetchJars(ctx, dir, o.Kafka)
		})
		return filepath.Join(dir, "*"), o.Kafka, err
	}, nil
}

func homeJars(home string) (fetching, *Need) {
	libs := filepath.Join(home, "libs")
	core, err := filepath.Glob(filepath.Join(libs, "kafka_2.*-*.jar"))
	for _, jar := range core {
		_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(jar), ".jar"), "-")
		if !strings.Contains(version, "-") { // not the one with the sources
			return func(context.Context, func(string)) (string, string, error) {
				return filepath.Join(libs, "*"), version, nil
			}, nil
		}
	}
	why := "no libs/kafka_2.*.jar in KAFKA_HOME"
	if err != nil {
		why += ": " + err.Error()
	}
	return nil, &Need{
		What: "Apache Kafka", Why: why,
		Remedy: "set KAFKA_HOME to an unpacked Apache Kafka, or unset it",
	}
}

// project is what Maven is given. The logging binding is the one for the version of
// slf4j that Kafka has; it writes to standard error and needs no file.
const project = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.hopcheck</groupId>
  <artifactId>kafka-jars</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>KAFKA</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-simple</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
      </plugin>
    </plugins>
  </build>
</project>
`

func fetchJars(ctx context.Context, dir, version string) error {
	pom := filepath.Join(dir, "pom.xml")
	text := strings.ReplaceAll(project, "KAFKA", version)
	if err := os.WriteFile(pom, []byte(text), 0o644); err != nil {
		return fmt.Errorf("fetching Kafka: %w", err)
	}
	cmd := exec.CommandContext(ctx, "mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetching Kafka %s with Maven: %w", version, said(err, out))
	}
	return nil
}
