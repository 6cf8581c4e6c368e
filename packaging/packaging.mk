# make deb, make rpm, make wheel: packages in BUILD, of the programs that `make portable` builds.
deb: portable
	@packaging/deb.sh $(PORT) $(BUILD)
deb-test: deb
	@packaging/deb-test.sh $(BUILD)
rpm: portable
	@packaging/rpm.sh $(PORT) $(BUILD)
wheel: portable
	@packaging/wheel.sh $(PORT) $(BUILD)
.PHONY: deb deb-test rpm wheel
