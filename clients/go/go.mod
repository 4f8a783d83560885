module github.com/berth-cloud/berth-go

go 1.24
